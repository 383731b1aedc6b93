package scheduler

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// tableOf is an empty experience of a scheduler, on classes a, b and c, with a default of 10 s.
func tableOf(t interface{ Helper() }, writer string, process int64, e Estimates) *experience {
	t.Helper()
	short := cluster.Mode{Name: "short", PerClass: map[string]cluster.Shape{"a": {Duration: 1000}, "b": {Duration: 500}}}
	types := []cluster.TaskType{{Name: "profiled", Modes: []cluster.Mode{short}}, {Name: "simulated"}}
	cfg := &Config{Name: writer, Incarnation: process, Estimates: e, DefaultDuration: 10 * time.Second}
	classes := NewCatalog(types, cfg.DefaultDuration)
	for _, class := range []string{"a", "b", "c"} {
		classes.Class(class)
	}
	return newExperience(cfg, classes, Wants{Loads: Snapshots})
}

// name returns what the table knows of a name; of a type's it knows the profile.
func (x *experience) name(name string) *named {
	x.key = append(x.key[:0], name...)
	n := x.find()
	if typ, mode, typed := strings.Cut(name, "/"); typed {
		x.profiled(n, &cluster.Kind{Type: typ, Mode: mode})
	}
	return n
}

// runs adds executions on a class that take so long, a decision after the other.
func (x *experience) runs(name, class string, took ...int64) {
	for _, d := range took {
		stamp := x.completions + 1
		x.ran(x.name(name), x.classes.Class(class), d, 0, stamp)
	}
}

// expects is the duration of a name on a class, where the submission says nothing.
func (x *experience) expects(name, class string) int64 {
	n := x.name(name)
	x.ready(n)
	c := x.classes.Class(class)
	k := cluster.Kind{HasUniform: true, Learned: &n.learned}
	if n.mode != nil {
		k.PerClass = n.mode.perClass
	}
	shape, _ := k.ShapeOn(c)
	return shape.Duration
}

func (x *experience) want(t testing.TB, name, class string, want int64) {
	t.Helper()
	if got := x.expects(name, class); got != want {
		t.Errorf("%s on %s is expected to take %d ms, want %d", name, class, got, want)
	}
}

// What nothing is known of takes the default; then the median of what was seen, of the latest 32.
func TestTheMedianOfTheLatest(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	x.want(t, "sim", "a", 10_000)
	x.runs("sim", "a", 5)
	x.want(t, "sim", "a", 5)
	x.runs("sim", "a", 9)
	x.want(t, "sim", "a", 7)
	x.runs("sim", "a", 1000)
	x.want(t, "sim", "a", 9)
	for range keptRuns/2 + 1 {
		x.runs("sim", "a", 100)
	}
	x.want(t, "sim", "a", 100)
	for range keptRuns {
		x.runs("sim", "a", 3)
	}
	x.want(t, "sim", "a", 3)
}

// A run of no time counts as the least, one of an absurd time as the longest that anybody may set, one of a clock that went
// backwards as the least. A time scale is taken out.
func TestAbsurdRunTimes(t *testing.T) {
	for _, c := range []struct {
		run   time.Duration
		scale float64
		want  int64
	}{
		{0, 1, 1}, {-time.Hour, 1, 1}, {499 * time.Microsecond, 1, 1}, {1600 * time.Microsecond, 1, 2}, {20 * time.Millisecond, 50, 1000},
		{1<<63 - 1, cluster.MaxTimeScale, cluster.MaxDuration}, {-1 << 63, cluster.MaxTimeScale, 1},
	} {
		if got := tookOf(c.run, c.scale); got != c.want {
			t.Errorf("%v at scale %v: %d ms, want %d", c.run, c.scale, got, c.want)
		}
	}
}

// A class that a name was never seen on borrows from the one that it was seen on most, times what other names say of the
// two; without other names, as it is. What was seen itself goes before.
func TestAClassBorrows(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	x.runs("sim", "a", 100, 100, 100)
	x.want(t, "sim", "b", 100)
	for i, ratio := range []int64{2, 3, 40} {
		x.runs(fmt.Sprint("other", i), "a", 10)
		x.runs(fmt.Sprint("other", i), "b", 10*ratio)
	}
	x.runs("sim", "c", 7) // the ninth one is no look at the ratios yet: the one after 8 saw other2 on a alone
	for range 7 {
		x.runs("sim", "a", 100)
	}
	x.want(t, "sim", "b", 300)
	x.runs("sim", "b", 60)
	x.want(t, "sim", "b", 60)
}

// Ratios are looked at after 1, 2, 4 and so on executions, from 64 on after every 64.
func TestWhenRatiosAreLookedAt(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	var looks []int64
	for range 300 {
		before := x.epoch
		x.runs("sim", "a", 1)
		if x.epoch != before {
			looks = append(looks, x.completions)
		}
	}
	if got := fmt.Sprint(looks); got != "[1 2 4 8 16 32 64 128 192 256]" {
		t.Errorf("looked after %s", got)
	}
}

func slow(n int, took int64) []int64 {
	runs := make([]int64, n)
	for i := range runs {
		runs[i] = took
	}
	return runs
}

// How far off estimates were is the mean of the first 16, then a decayed one.
func TestHowFarOff(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	n, s := x.name("sim"), (*seen)(nil)
	off := func(took, expected, want int64) {
		t.Helper()
		x.ran(n, x.classes.Class("a"), took, expected, 0)
		if s = n.classes[x.classes.Class("a")].own(); s.Off != want {
			t.Errorf("%d ms instead of %d: off by %d thousandths, want %d", took, expected, s.Off, want)
		}
	}
	off(150, 100, 500)
	off(100, 100, 250)
	off(100, 200, 333)
	off(5, 0, 333) // nothing was expected
	off(cluster.MaxDuration, 1, cluster.MaxMiss)
}

// What is kept is bounded whatever comes, and what is in use stays.
func TestExperienceIsBounded(t *testing.T) {
	before := heap()
	x := tableOf(t, "s1", 1, Learned)
	long := strings.Repeat("x", cluster.MaxLearned-8)
	for i := range 3 * foreignEntries {
		name := fmt.Sprintf("%s%08d", long, i)
		runs := make([]cluster.Run, cluster.MaxRuns)
		for j := range runs {
			runs[j] = cluster.Run{Took: int64(i + 1), At: int64(i)}
		}
		x.merge([]cluster.Experience{{Scheduler: fmt.Sprint("s", 2+i%4), Incarnation: 1, Name: "other " + name[8:], Class: "a",
			Number: int64(i + 1), Count: 1, Runs: runs}})
		if i%3 == 0 {
			x.runs(name, "b", 7)
			full := x.newest.classes[x.classes.Class("b")].own().own
			full.runs, x.newest.own.latest = make([]cluster.Run, keptRuns), make([]need, keptRuns)
			x.take()
			x.runs("in use", "a", 42)
		}
		if x.own > ownEntries || x.foreign > foreignEntries || len(x.names) > ownEntries+foreignEntries {
			t.Fatalf("%d own entries, %d of others, %d names", x.own, x.foreign, len(x.names))
		}
	}
	if x.own != ownEntries {
		t.Errorf("%d own entries, want %d", x.own, ownEntries)
	}
	x.want(t, "in use", "a", 42)
	size := float64(heap()-before) / (1 << 20)
	runtime.KeepAlive(x)
	t.Logf("%.1f MB: %d own entries, %d of others", size, x.own, x.foreign)
	if size > 20 {
		t.Errorf("%d own entries and %d of others take %.1f MB, said are 20", x.own, x.foreign, size)
	}
}

// A name of which nothing is known stays while tasks of it are open, and no longer; so does one whose entries had to go.
func TestNamesGoWithTheirTasks(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	b := &batch{named: x.name("sim")}
	b.Learned = &b.named.learned
	x.retain(b)
	x.runs("sim", "a", 5)
	x.lose(b.named, true, true)
	if x.name("sim") != b.named || x.own != 0 || x.newest != nil {
		t.Fatal("a name with an open task is forgotten, or its entries are not")
	}
	x.want(t, "sim", "a", 10_000)
	x.release(b)
	if len(x.names) != 0 {
		t.Fatal("a name of which nobody knows anything is kept")
	}
	x.runs("sim", "a", 5)
	x.retain(b) // a task of it runs again
	if b.named != x.name("sim") || b.Learned != &b.named.learned || b.named.tasks != 1 {
		t.Error("tasks of one name read different tables")
	}
}

// However names are used, the list of them is in the order of use and counts what there is.
func TestTheOrderOfUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := tableOf(t, "s1", 1, Learned)
		var order []string
		name := rapid.SampledFrom([]string{"k", "l", "m", "n"})
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			of := name.Draw(t, "name")
			at := -1
			for i := range order {
				if order[i] == of {
					at = i
				}
			}
			if at >= 0 {
				order = append(order[:at], order[at+1:]...)
			}
			if at >= 0 && rapid.IntRange(0, 3).Draw(t, "forget") == 0 {
				x.lose(x.names[of], true, true)
			} else {
				x.runs(of, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "class"), 1)
				order = append(order, of)
			}
			entries, i := 0, 0
			for n := x.oldest; n != nil; n = n.newer {
				if i == len(order) || n.name != order[i] {
					t.Fatalf("%s is in place %d of %v", n.name, i, order)
				}
				entries += n.entries
				i++
			}
			if i != len(order) || len(x.names) != i || entries != x.own || (i > 0 && x.newest.name != order[i-1]) {
				t.Fatalf("%d names, %d entries of %d: %v", i, entries, x.own, order)
			}
		}
	})
}
