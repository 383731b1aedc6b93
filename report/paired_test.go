package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The interval holds the mean, shrinks to a point when all pairs agree, and calls a clear effect clear.
func TestPairedChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfN(rapid.Float64Range(1, 100), 2, 8).Draw(t, "baseline")
		var values []float64
		want := 0.0
		for _, b := range base {
			v := rapid.Float64Range(0.5, 200).Draw(t, "value")
			values = append(values, v)
			want += (v/b - 1) / float64(len(base))
		}
		c := PairedChange(values, base)
		if math.Abs(c.Mean-want) > 1e-9 || c.Low > c.Mean+1e-9 || c.High < c.Mean-1e-9 || c.Pairs != len(base) {
			t.Fatalf("change %+v, mean %v", c, want)
		}
	})
	same := PairedChange([]float64{8, 16, 24}, []float64{10, 20, 30})
	if math.Abs(same.Low+0.2) > 1e-9 || math.Abs(same.High+0.2) > 1e-9 || !same.Significant() {
		t.Errorf("three pairs at -20 %%: %+v", same)
	}
	if noise := PairedChange([]float64{11, 9, 10.5, 9.5}, []float64{10, 10, 10, 10}); noise.Significant() {
		t.Errorf("noise around zero is significant: %+v", noise)
	}
	if one := PairedChange([]float64{5}, []float64{10}); one.Significant() || one.Mean != -0.5 {
		t.Errorf("one pair: %+v: it has no interval", one)
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
	if len(rows) != 2 || rows[1].Policy != "dodoor" || rows[1].Mean.Mean != -0.5 || rows[1].Mean.Pairs != 2 || rows[1].Incomplete != 1 {
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
