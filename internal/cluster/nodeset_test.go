package cluster

import (
	"testing"

	"pgregory.net/rapid"
)

// A set of nodes holds what was put in and not taken out, whatever the order; nobody is in one that does not exist.
func TestNodeSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s NodeSet
		want := map[int]bool{}
		for _, i := range rapid.SliceOf(rapid.IntRange(0, 200)).Draw(t, "nodes") {
			if want[i] = rapid.Bool().Draw(t, "in"); want[i] {
				s.Add(i)
			} else {
				s.Remove(i)
			}
		}
		for i := range 300 {
			if s.Has(i) != want[i] || (*NodeSet)(nil).Has(i) {
				t.Fatalf("node %d is in the set: %v", i, s.Has(i))
			}
		}
	})
}
