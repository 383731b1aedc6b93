package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"dodoor/generator"
)

func load(t *testing.T, dir string) []Group {
	t.Helper()
	runs, _, err := LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	return GroupRuns(runs)
}

func TestGroupOfACampaign(t *testing.T) {
	groups := load(t, campaign(t))
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	g := groups[0]
	if len(g.Policies) != 3 || !slices.Equal(g.QPS, []float64{10, 40}) || len(g.Runs) != 12 {
		t.Errorf("got %d policies, %v, %d runs", len(g.Policies), g.QPS, len(g.Runs))
	}
	pot := g.Policies[1]
	if pot.Label != "pot" || len(pot.Cells) != 2 || len(pot.At(40).Runs) != 2 || pot.At(40).Complete() || !pot.At(10).Complete() || pot.At(20) != nil {
		t.Errorf("got %+v", pot)
	}
}

// Runs under different conditions never share a figure.
func TestConditionsSeparateGroups(t *testing.T) {
	for name, change := range map[string]func(*Run){
		"trace":         func(r *Run) { r.Trace = "azure" },
		"on":            func(r *Run) { r.On = "sim" },
		"time scale":    func(r *Run) { r.TimeScale = 3 },
		"tasks":         func(r *Run) { r.Info.Tasks++ },
		"warm-up":       func(r *Run) { r.Info.Warmup++ },
		"schedulers":    func(r *Run) { r.Info.Schedulers++ },
		"nodes":         func(r *Run) { r.Info.Classes[0].Nodes++ },
		"task types":    func(r *Run) { r.Info.Settings = map[string]any{"task_type": "x"} },
		"trace's times": func(r *Run) { r.QPS = 0 },
	} {
		runs := []Run{*run("a"), *run("b")}
		if n := len(GroupRuns(runs)); n != 1 {
			t.Fatalf("%d groups of equal runs", n)
		}
		change(&runs[1])
		groups := GroupRuns(runs)
		if len(groups) != 2 || groups[0].Title == groups[1].Title {
			t.Errorf("another %s: %d groups", name, len(groups))
		}
	}
}

// Nodes register in any order.
func TestOrderOfClassesDoesNotMatter(t *testing.T) {
	runs := []Run{*run("a"), *run("b")}
	slices.Reverse(runs[1].Info.Classes)
	if n := len(GroupRuns(runs)); n != 1 {
		t.Errorf("%d groups", n)
	}
}

func run(name string) *Run {
	i := info()
	i.Settings = map[string]any{}
	return &Run{Name: name, Info: i, Summary: fold(i, finished("1", 0, 1))}
}

// Runs of one policy with other settings are a line of their own, named for what differs; where runs
// listen and log, and their seeds, make no difference.
func TestLabelsNameWhatDiffers(t *testing.T) {
	settings := func(alpha, b any, seed float64) map[string]any {
		return map[string]any{
			"score": map[string]any{"alpha": alpha}, "datastore": map[string]any{"b": b, "listen": seed},
			"seed": seed, "generator": map[string]any{"out": seed}, "log": map[string]any{"level": seed},
		}
	}
	a, b, c, pot := run("a"), run("b"), run("c"), run("d")
	a.Info.Settings, b.Info.Settings, c.Info.Settings = settings(0.5, 100.0, 1), settings(0.0, 100.0, 2), settings(0.5, 100.0, 3)
	pot.Policy, pot.Info.Settings = "pot", settings(7.0, 9.0, 1)
	labels := labelsOf([]*Run{a, b, c, pot})
	for r, want := range map[*Run]string{a: "dodoor alpha=0.5", b: "dodoor alpha=0", c: "dodoor alpha=0.5", pot: "pot"} {
		if labels[r] != want {
			t.Errorf("%s is labelled %q, want %q", r.Name, labels[r], want)
		}
	}
	delete(c.Info.Settings, "score")
	if got := labelsOf([]*Run{a, c})[c]; got != "dodoor alpha=unset" {
		t.Errorf("got %q", got)
	}
}

// Student's t at 0.975: 12.706 with one degree of freedom, 2.776 with four.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		values     []float64
		mean, half float64
	}{
		{[]float64{3}, 3, 0},
		{[]float64{1, 3}, 2, 12.7062 * math.Sqrt2 / math.Sqrt2},
		{[]float64{1, 2, 3, 4, 5}, 3, 2.77645 * math.Sqrt(2.5) / math.Sqrt(5)},
	} {
		if e := estimate(c.values); e.Mean != c.mean || math.Abs(e.Half-c.half) > 1e-3 || e.N != len(c.values) {
			t.Errorf("%v: got %+v, want %g ± %g", c.values, e, c.mean, c.half)
		}
	}
}

func TestMissingSaysWhat(t *testing.T) {
	r := run("a")
	r.Summary.Lost, r.Summary.Failed, r.Info = 2, 1, &generator.RunInfo{Stopped: true}
	if got := r.Missing(); !strings.Contains(got, "1 failed, 2 lost, stopped") || r.Complete() {
		t.Errorf("got %q, complete %t", got, r.Complete())
	}
}
