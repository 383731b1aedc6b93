package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// poolVersion is a version without a kernel that says which groups can serve again.
type poolVersion struct {
	Version
	root  string
	worn  map[*Group]bool
	fails bool
}

func (v *poolVersion) Roots() []string       { return []string{v.root} }
func (v *poolVersion) Delegate(string) error { return nil }
func (v *poolVersion) Confine(*Group) error  { return nil }
func (v *poolVersion) Renewable() bool       { return !v.fails }
func (v *poolVersion) Renew(g *Group) bool   { return !v.worn[g] }
func (v *poolVersion) BeginKill(string)      {}

// No two tasks have one group at a time; a group serves again under its own limits alone, never once it is worn or was not
// seen to be empty, and not without being told that it may.
func TestGroupsInTurn(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		v := &poolVersion{root: root, worn: map[*Group]bool{}, fails: rapid.Bool().Draw(t, "fails")}
		c, err := New(v, "w")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var held []*Group
		spent, unfit := map[*Group]bool{}, map[*Group]bool{}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				l := Limits{Millicores: rapid.Int64Range(1, 2).Draw(t, "cores"), Memory: 1}
				g, err := c.Create("t", l)
				if err != nil {
					t.Fatal(err)
				}
				for _, other := range held {
					if other == g || other.name == g.name {
						t.Fatal("two tasks have one group")
					}
				}
				if g.limits != l || unfit[g] || spent[g] && v.fails {
					t.Fatalf("%+v for %+v, unfit %t", g.limits, l, unfit[g])
				}
				held = append(held, g)
			},
			"release": func(t *rapid.T) {
				if len(held) == 0 {
					t.Skip("none")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(t, "which")
				g := held[i]
				held = append(held[:i:i], held[i+1:]...)
				seen, again := rapid.Bool().Draw(t, "seen"), rapid.Bool().Draw(t, "again")
				v.worn[g] = rapid.Bool().Draw(t, "worn")
				g.empty.Store(seen)
				spent[g], unfit[g] = true, !seen || !again || v.worn[g]
				if err := c.Release(g, again); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

// Groups whose limits do not come back make room for others.
func TestGroupsOfRareLimitsGo(t *testing.T) {
	v := &poolVersion{root: t.TempDir(), worn: map[*Group]bool{}}
	c, err := New(v, "w")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	use := func(memory int64) *Group {
		g, err := c.Create("t", Limits{Millicores: 1, Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		g.empty.Store(true)
		if err := c.Release(g, true); err != nil {
			t.Fatal(err)
		}
		return g
	}
	for i := range int64(2 * mostSpares) {
		use(i)
	}
	if once, again := use(-1), use(-1); once != again {
		t.Error("a group does not serve again")
	}
	if left, err := os.ReadDir(filepath.Join(v.root, c.own)); err != nil || len(left) != mostSpares {
		t.Errorf("%d groups, %v", len(left), err)
	}
}
