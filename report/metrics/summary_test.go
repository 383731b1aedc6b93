package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/report/reporttest"

	"pgregory.net/rapid"
)

func fold(info *generator.RunInfo, rows ...generator.Row) *Summary {
	f := NewFold(info)
	for i := range rows {
		f.Add(&rows[i])
	}
	return f.Summary()
}

func close(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(1, math.Abs(b)) }

func TestFoldByHand(t *testing.T) {
	warm := reporttest.Finished("0", 0, 5000)
	warm.Warmup = true
	s := fold(reporttest.Info(), warm, reporttest.Finished("1", 100, 36), reporttest.Finished("2", 150, 86),
		reporttest.Never("3", cluster.Lost, 160))
	// First measured arrival at 100 ms, last measured completion at 250 ms: the warm-up's end at
	// 5,014 ms does not count. Time scale 20.
	for name, c := range map[string][2]float64{
		"wall":                  {s.WallS, 0.15},
		"span":                  {s.SpanS, 3},
		"throughput":            {s.ThroughputPerS, 2.0 / 3},
		"makespan mean":         {s.MakespanS.Mean, 20 * (0.049 + 0.099) / 2},
		"makespan p50":          {s.MakespanS.P50, 20 * 0.049},
		"makespan max":          {s.MakespanS.Max, 20 * 0.099},
		"queue wait":            {s.QueueWaitS.Max, 20 * 0.010},
		"run":                   {s.RunS.P95, 20 * 0.086},
		"scheduling, wall":      {s.SchedulingMs.P99, 2},
		"generator lag, wall":   {s.GeneratorLagMs.Max, 0.5},
		"lag of lost tasks too": {s.GeneratorLagMs.Mean, 1.0 / 3},
		"cores":                 {s.Utilisation.Cores, 2 * (0.036 + 0.086) / (40 * 0.15)},
		"memory":                {s.Utilisation.Memory, 512 * (0.036 + 0.086) / (8192 * 0.15)},
		"cores of the class":    {s.PerClass["small"].UtilisationCores, 2 * (0.036 + 0.086) / (8 * 0.15)},
		"cores of the other":    {s.PerClass["large"].UtilisationCores, 0},
	} {
		if !close(c[0], c[1]) {
			t.Errorf("%s: %g, want %g", name, c[0], c[1])
		}
	}
	if s.Tasks != 4 || s.Completed != 3 || s.Lost != 1 || s.PerClass["small"].Tasks != 3 || len(s.PerClass) != 2 {
		t.Errorf("counts cover the whole run: %+v", s)
	}
}

func TestOutcomesAddUp(t *testing.T) {
	retried := reporttest.Finished("5", 5, 1)
	retried.Attempts = 3
	s := fold(reporttest.Info(), reporttest.Never("0", cluster.Failed, 0), reporttest.Never("1", cluster.TimedOut, 1),
		reporttest.Never("2", cluster.Cancelled, 2), reporttest.Never("3", cluster.Lost, 3),
		reporttest.Finished("4", 4, 1), retried)
	if s.Failed != 1 || s.TimedOut != 1 || s.Cancelled != 1 || s.Lost != 1 || s.Completed != 2 || s.Retried != 1 || s.Tasks != 6 {
		t.Errorf("got %+v", s)
	}
}

// Sec. 1.6 of the design, for Dodoor: 1 + 1/b_delta + S/b control messages per task.
func TestMessagesPerTask(t *testing.T) {
	run := reporttest.Info()
	run.Before.Schedulers = map[string]map[string]int64{"a": {"in.submit": 10, "in.push": 3}, "b": {"in.submit": 5}, "dead": {"in.submit": 7}}
	run.After.Schedulers = map[string]map[string]int64{
		"a": {"in.submit": 2010, "out.enqueue": 2001, "out.delta": 250, "in.push": 103, "in.complete": 2000, "in.collect": 40, "out.probe": 1},
		"b": {"in.submit": 2005, "out.enqueue": 2000, "out.delta": 250, "in.push": 100, "in.complete": 2000},
	}
	run.Before.Data = map[string]int64{"in.report": 100}
	run.After.Data = map[string]int64{"in.report": 60} // it restarted
	rows := make([]generator.Row, 4000)
	for i := range rows {
		rows[i] = reporttest.Finished("x", float64(i), 1)
	}
	unsent := reporttest.Never("y", cluster.Cancelled, 0)
	unsent.Sent = generator.Never
	s := fold(run, append(rows, unsent)...)
	want := Messages{Submit: 4000, Probe: 1, Enqueue: 4001, Delta: 500, Push: 200, Report: 60, Complete: 4000, Collect: 40}
	if s.Messages != want {
		t.Errorf("got %+v, want %+v", s.Messages, want)
	}
	if !close(s.ControlMessagesPerTask, (4000+1+500+200)/4000.0) || !close(s.RPCsPerTask, (4701+4001+60+4000+40)/4000.0) {
		t.Errorf("%g control messages, %g RPCs per task that was sent", s.ControlMessagesPerTask, s.RPCsPerTask)
	}
	if !slices.Equal(s.CountersMissing, []string{"dead"}) {
		t.Errorf("missing: %v", s.CountersMissing)
	}
	run.After.Data = nil
	if got := fold(run).CountersMissing; !slices.Equal(got, []string{"dead", "data service"}) {
		t.Errorf("missing: %v", got)
	}
}

// A view that a push refreshes every b placements misses 0 ... b-1 of them.
func TestViewAge(t *testing.T) {
	const b = 10
	run := reporttest.Info()
	run.DecisionsBefore = 1000
	run.After.Schedulers = map[string]map[string]int64{"s": {"in.push": 10}}
	var rows []generator.Row
	for i := range 100 {
		r := reporttest.Finished("x", float64(i), 5)
		r.ViewDecisions = 1000 + int64(i/b*b)
		r.Warmup = i < 20
		rows = append(rows, r)
	}
	rows = append(rows, reporttest.Never("lost", cluster.Lost, 50))
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	s := fold(run, rows...)
	if !close(s.ViewAgeDecisions.Mean, (b-1)/2.0) || s.ViewAgeDecisions.P95 != b-1 {
		t.Errorf("got %+v", s.ViewAgeDecisions)
	}
}

// Whatever the rows, no figure is NaN or infinite, and the order of the rows does not matter.
func TestFoldOfAnyRows(t *testing.T) {
	row := rapid.Custom(func(t *rapid.T) generator.Row {
		r := reporttest.Never("x", cluster.Outcome(rapid.IntRange(1, 5).Draw(t, "outcome")), float64(rapid.IntRange(0, 50).Draw(t, "scheduled")))
		if r.Outcome == cluster.Finished {
			r = reporttest.Finished("x", float64(rapid.IntRange(0, 50).Draw(t, "again")), float64(rapid.IntRange(0, 50).Draw(t, "run")))
		}
		r.Warmup = rapid.Bool().Draw(t, "warmup")
		r.Class = rapid.SampledFrom([]string{"", "small", "unknown"}).Draw(t, "class")
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(row, 0, 30).Draw(t, "rows")
		run := reporttest.Info()
		if rapid.Bool().Draw(t, "no nodes") {
			run.Classes = nil
		}
		there := fold(run, rows...)
		slices.Reverse(rows)
		back := fold(run, rows...)
		one, err := json.Marshal(there) // fails on NaN and infinity
		if err != nil {
			t.Fatal(err)
		}
		if !close(there.MakespanS.Mean, back.MakespanS.Mean) || there.Tasks != back.Tasks || there.WallS != back.WallS ||
			there.MakespanS.P95 != back.MakespanS.P95 || !close(there.Utilisation.Cores, back.Utilisation.Cores) {
			t.Fatalf("%s\nin the other order %+v", one, back)
		}
		measured := 0
		for _, r := range rows {
			if r.Outcome == cluster.Finished && !r.Warmup {
				measured++
			}
		}
		if measured > 0 && !close(there.ThroughputPerS*there.SpanS, float64(measured)) {
			t.Fatalf("%d tasks in %g s are not %g/s", measured, there.SpanS, there.ThroughputPerS)
		}
	})
}

func TestSummaryKeysAreTheContract(t *testing.T) {
	text, err := json.Marshal(fold(reporttest.Info()))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range strings.Fields(`policy on trace qps seed tasks completed failed lost retried throughput_per_s wall_s makespan_s
		mean p50 p95 p99 p999 max queue_wait_s run_s estimate_error bias scheduling_ms generator_lag_ms control_messages_per_task
		rpcs_per_task messages
		submit probe enqueue delta push report complete cancel utilisation cores memory per_class utilisation_cores
		view_age_decisions cancelled timed_out`) {
		if !strings.Contains(string(text), `"`+key+`":`) {
			t.Errorf("no key %q in %s", key, text)
		}
	}
}
