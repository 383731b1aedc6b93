package group

import (
	"slices"
	"testing"

	"dodoor/report/metrics"
	"dodoor/report/reporttest"
	"dodoor/report/results"
)

func TestGroupOfACampaign(t *testing.T) {
	groups := load(t, reporttest.Campaign(t))
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	g := groups[0]
	if len(g.Policies) != 3 || !slices.Equal(g.QPS, []float64{10, 40}) || len(g.Runs) != 12 {
		t.Errorf("got %d policies, %v, %d runs", len(g.Policies), g.QPS, len(g.Runs))
	}
	pot := g.Policies[1]
	if pot.Label != "pot" || len(pot.Cells) != 2 || len(pot.At(40).Runs) != 2 || pot.At(40).Complete() || !pot.At(10).Complete() ||
		pot.At(20) != nil {
		t.Errorf("got %+v", pot)
	}
}

// Runs under different conditions never share a figure.
func TestConditionsSeparateGroups(t *testing.T) {
	for name, change := range map[string]func(*results.Run){
		"trace":         func(r *results.Run) { r.Trace = "azure" },
		"on":            func(r *results.Run) { r.On = "sim" },
		"time scale":    func(r *results.Run) { r.TimeScale = 3 },
		"tasks":         func(r *results.Run) { r.Info.Tasks++ },
		"warm-up":       func(r *results.Run) { r.Info.Warmup++ },
		"schedulers":    func(r *results.Run) { r.Info.Schedulers++ },
		"nodes":         func(r *results.Run) { r.Info.Classes[0].Nodes++ },
		"task types":    func(r *results.Run) { r.Info.Settings = map[string]any{"task_type": "x"} },
		"trace's times": func(r *results.Run) { r.QPS = 0 },
	} {
		runs := []results.Run{*run("a"), *run("b")}
		if n := len(Of(runs)); n != 1 {
			t.Fatalf("%d groups of equal runs", n)
		}
		change(&runs[1])
		groups := Of(runs)
		if len(groups) != 2 || groups[0].Title == groups[1].Title {
			t.Errorf("another %s: %d groups", name, len(groups))
		}
	}
}

// Nodes register in any order.
func TestOrderOfClassesDoesNotMatter(t *testing.T) {
	runs := []results.Run{*run("a"), *run("b")}
	slices.Reverse(runs[1].Info.Classes)
	if n := len(Of(runs)); n != 1 {
		t.Errorf("%d groups", n)
	}
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
	labels := labelsOf([]*results.Run{a, b, c, pot})
	for r, want := range map[*results.Run]string{a: "dodoor alpha=0.5", b: "dodoor alpha=0", c: "dodoor alpha=0.5", pot: "pot"} {
		if labels[r] != want {
			t.Errorf("%s is labelled %q, want %q", r.Name, labels[r], want)
		}
	}
	delete(c.Info.Settings, "score")
	if got := labelsOf([]*results.Run{a, c})[c]; got != "dodoor alpha=unset" {
		t.Errorf("got %q", got)
	}
}

func load(t *testing.T, dir string) []Group {
	t.Helper()
	runs, _, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return Of(runs)
}

func run(name string) *results.Run {
	info := reporttest.Info()
	info.Settings = map[string]any{}
	fold, row := metrics.NewFold(info), reporttest.Finished("1", 0, 1)
	fold.Add(&row)
	return &results.Run{Name: name, Info: info, Summary: fold.Summary()}
}

// No two columns have one name.
func TestColumnsHaveNames(t *testing.T) {
	header, _ := (&Group{}).Table()
	if sorted := slices.Sorted(slices.Values(header)); sorted[0] == "" || len(slices.Compact(sorted)) != len(header) {
		t.Errorf("a column has no name, or two have the same: %q", header)
	}
}
