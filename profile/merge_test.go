package profile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/conf"

	"pgregory.net/rapid"
)

// part is a catalogue in a file of the given name.
func part(name string, types []conf.TaskType) Part {
	return Part{types, func(i, j, k int) string { return fmt.Sprintf("%s:%d.%d.%d", name, i, j, k) }}
}

var (
	words   = rapid.SampledFrom([]string{"a", "b", "whole", "half", "x-1", "y.z"})
	anyArgv = rapid.SliceOfN(rapid.StringN(0, 6, -1).Filter(func(s string) bool { return !strings.Contains(s, "\x00") }), 0, 3)
)

func anyShape(t *rapid.T) conf.Shape {
	s := conf.Shape{
		Cores:    float64(rapid.IntRange(1, 1e6).Draw(t, "thousandths")) / 1000,
		MemoryMB: rapid.Int64Range(0, 1<<30).Draw(t, "memory"), DiskMB: rapid.Int64Range(0, 1<<30).Draw(t, "disk"),
		Duration: conf.Duration(time.Duration(rapid.Int64Range(1, 1e9).Draw(t, "ms")) * ms),
	}
	if rapid.Bool().Draw(t, "extra") {
		name := rapid.SampledFrom([]string{"gpu", "fp.ga"}).Draw(t, "name")
		s.Extra = map[string]float64{name: float64(rapid.IntRange(0, 5000).Draw(t, "amount")) / 1000}
	}
	return s
}

func anyTypes(t *rapid.T) []conf.TaskType {
	var types []conf.TaskType
	for _, name := range rapid.SliceOfNDistinct(words, 1, 4, rapid.ID).Draw(t, "types") {
		typ := conf.TaskType{Name: name, Executor: "sleep", Argv: orNil(anyArgv.Draw(t, "argv"))}
		if rapid.Bool().Draw(t, "contained") {
			typ.Executor, typ.Image = "docker", rapid.StringN(1, 8, -1).Draw(t, "image")
		}
		for _, mode := range rapid.SliceOfNDistinct(words, 1, 3, rapid.ID).Draw(t, "modes") {
			m := conf.Mode{Name: mode, Argv: orNil(anyArgv.Draw(t, "argv"))}
			if rapid.Bool().Draw(t, "for all classes") {
				m.Shape = anyShape(t)
			}
			for _, class := range rapid.SliceOfNDistinct(words, 1, 4, rapid.ID).Draw(t, "classes") {
				m.Profiles = append(m.Profiles, conf.Profile{Class: class, Shape: anyShape(t)})
			}
			typ.Modes = append(typ.Modes, m)
		}
		types = append(types, typ)
	}
	return types
}

func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// What is written is read to the same, whatever the comments say.
func TestTextIsReadToTheSame(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		types, note := anyTypes(t), rapid.String().Draw(t, "note")
		text := Text(types, []string{note, ""}, func(_, _, class string) string { return class + note })
		path := filepath.Join(dir, "types.toml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := conf.ReadTypes(path)
		if err != nil || !reflect.DeepEqual(got.Types, types) {
			t.Fatalf("%v\n%s\nis read to %+v, want %+v", err, text, got, types)
		}
	})
}

// byName orders everything that has a name, so that catalogues can be compared.
func byName(types []conf.TaskType) []conf.TaskType {
	slices.SortFunc(types, func(a, b conf.TaskType) int { return strings.Compare(a.Name, b.Name) })
	for _, t := range types {
		slices.SortFunc(t.Modes, func(a, b conf.Mode) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range t.Modes {
			slices.SortFunc(m.Profiles, func(a, b conf.Profile) int { return strings.Compare(a.Class, b.Class) })
		}
	}
	return types
}

// A catalogue that was measured piece by piece, in whatever order, is the same as the one that was
// measured at once; and no piece goes in twice.
func TestMergeJoinsThePieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := anyTypes(t)
		var parts []Part
		for _, typ := range whole {
			for _, mode := range typ.Modes {
				for _, p := range mode.Profiles {
					piece, m := typ, mode
					m.Profiles = []conf.Profile{p}
					piece.Modes = []conf.Mode{m}
					parts = append(parts, part(fmt.Sprintf("%s-%s-%s", typ.Name, mode.Name, p.Class), []conf.TaskType{piece}))
				}
			}
		}
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)).Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		got, err := Merge(parts)
		if err != nil || !reflect.DeepEqual(byName(got), byName(whole)) {
			t.Fatalf("%v\ngot %+v\nwant %+v", err, got, whole)
		}
		if same, err := Merge([]Part{part("whole", whole)}); err != nil || !reflect.DeepEqual(byName(same), whole) {
			t.Fatalf("a single catalogue becomes %+v, %v", same, err)
		}
		_, err = Merge(append(parts, part("again", whole)))
		if err == nil || strings.Count(err.Error(), "again:") != len(parts) {
			t.Fatalf("twice the same: %v", err)
		}
	})
}

func TestMergeRefuses(t *testing.T) {
	base := func() []conf.TaskType {
		return []conf.TaskType{{Name: "t", Executor: "docker", Image: "i", Argv: []string{"x"}, Modes: []conf.Mode{
			{Name: "short", Argv: []string{"y"}, Profiles: []conf.Profile{{Class: "c", Shape: conf.Shape{Cores: 1, Duration: 1}}}}}}}
	}
	for want, change := range map[string]func(t *conf.TaskType){
		`b:0.-1.-1: t: executor is "process" here and "docker" elsewhere: not the same task (a:0.-1.-1)`: func(t *conf.TaskType) {
			t.Executor = "process"
		},
		`b:0.-1.-1: t: image is "j" here and "i" elsewhere: not the same task (a:0.-1.-1)`: func(t *conf.TaskType) {
			t.Image = "j"
		},
		`b:0.-1.-1: t: argv is [] here and ["x"] elsewhere: not the same task (a:0.-1.-1)`: func(t *conf.TaskType) { t.Argv = nil },
		`b:0.0.-1: t, short: argv is ["z"] here and ["y"] elsewhere: not the same task (a:0.0.-1)`: func(t *conf.TaskType) {
			t.Modes[0].Argv = []string{"z"}
		},
		`b:0.0.-1: t, short: the figures for all classes are others elsewhere (a:0.0.-1)`: func(t *conf.TaskType) {
			t.Modes[0].Cores = 1
		},
		`b:0.0.0: t, short, class c: there are figures elsewhere already (a:0.0.0)`: func(t *conf.TaskType) {},
	} {
		other := base()
		change(&other[0])
		if _, err := Merge([]Part{part("a", base()), part("b", other)}); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
