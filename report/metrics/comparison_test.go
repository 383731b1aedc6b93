package metrics

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dodoor/report/stats"
)

// Who picks a figure finds what it writes of it, and no two columns have one name.
func TestComparedFiguresHaveNames(t *testing.T) {
	var shorts, keys []string
	for _, m := range compared {
		shorts, keys = append(shorts, m.Short+" "+m.Unit), append(keys, m.Key)
	}
	for _, names := range [][]string{shorts, keys} {
		if slices.Sort(names); names[0] == "" || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("a column has no name, or two have the same: %q", names)
		}
	}
}

// Pairs are made by seed, whatever the order of the runs.
func TestCompare(t *testing.T) {
	run := func(policy string, seed uint64, mean float64, completed int) *Summary {
		s := &Summary{Policy: policy, QPS: 10, Seed: seed, Tasks: 10, Completed: completed, ThroughputPerS: 1}
		s.MakespanS.Mean = mean
		return s
	}
	rows := Compare([]*Summary{run("pot", 1, 10, 10), run("pot", 2, 20, 10), run("dodoor", 2, 10, 10), run("dodoor", 1, 5, 9)}, "pot")
	if len(rows) != 2 || rows[1].Policy != "dodoor" || rows[1].Changes[1].Mean != -0.5 || rows[1].Changes[1].Pairs != 2 ||
		rows[1].Incomplete != 1 {
		t.Fatalf("rows %+v", rows)
	}
	var b bytes.Buffer
	if err := PrintComparison(&b, rows, "pot"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"INCOMPLETE", "-50.0 %", "!!! 1 RUNS"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// The keys of comparison.json are a contract, and so is their order. A change without a pair is null: JSON has no NaN.
func TestComparisonJSON(t *testing.T) {
	s := &Summary{Policy: "dodoor", QPS: 10, Seed: 1, Tasks: 10, Completed: 9, ThroughputPerS: 2, ControlMessagesPerTask: 1.175,
		RPCsPerTask: 5}
	s.MakespanS, s.QueueWaitS.Mean = stats.Distribution{Mean: 3, P50: 4, P95: 5, P99: 6}, 7
	s.SchedulingMs.Mean, s.SchedulingMs.P95 = 8, 9
	half := *s
	half.Policy, half.MakespanS.Mean = "pot", 6
	for baseline, changes := range map[string]string{
		"pot": `{"mean":0,"low":0,"high":0,"pairs":1},"makespan_mean_change":{"mean":-0.5,"low":-0.5,"high":-0.5,"pairs":1},` +
			`"makespan_p95_change":{"mean":0,"low":0,"high":0,"pairs":1}`,
		"nobody": `null,"makespan_mean_change":null,"makespan_p95_change":null`,
	} {
		rows := Compare([]*Summary{s, &half}, baseline)
		got, err := json.Marshal(rows[0])
		if err != nil {
			t.Fatal(err)
		}
		want := `{"policy":"dodoor","qps":10,"runs":1,"incomplete":1,"throughput_per_s":2,"makespan_mean_s":3,"makespan_p50_s":4,` +
			`"makespan_p95_s":5,` +
			`"makespan_p99_s":6,"queue_wait_mean_s":7,"scheduling_mean_ms":8,"scheduling_p95_ms":9,"control_messages_per_task":1.175,` +
			`"rpcs_per_task":5,` +
			`"throughput_change":` + changes + `}`
		if string(got) != want {
			t.Errorf("against %s: got\n%s, want\n%s", baseline, got, want)
		}
	}
	var b bytes.Buffer
	if err := PrintComparison(&b, Compare([]*Summary{s}, "nobody"), "nobody"); err != nil || !strings.Contains(b.String(), "no pair") {
		t.Errorf("%v: %s", err, b.String())
	}
}
