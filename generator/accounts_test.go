package generator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Twenty-four shares are shown, the most frequent first and equals by name; the others are added up.
func TestManyShares(t *testing.T) {
	for kinds, want := range map[int]string{24: "", 25: "1 others  1 (3.8 %)", 27: "3 others  3 (10.7 %)"} {
		var requests []Request
		for i := range kinds {
			requests = append(requests, Request{Type: fmt.Sprintf("t%02d", i), Duration: 1, Demand: cluster.Resources{1000}})
		}
		requests = append(requests, Request{Type: "t05", Duration: 1, Demand: cluster.Resources{1000}})
		var b strings.Builder
		if err := Describe(requests).Print(&b); err != nil {
			t.Fatal(err)
		}
		shown := b.String()[strings.Index(b.String(), "type, mode"):]
		if strings.Count(shown, "\n") != min(kinds, 24)+min(len(want), 1) || !strings.Contains(shown, want) ||
			!strings.HasPrefix(shown, "type, mode  t05  2 ") || !strings.Contains(shown, "\n            t00  1 ") {
			t.Errorf("%d kinds:\n%s\nwant %q", kinds, shown, want)
		}
		if !strings.Contains(b.String(), "(all at once)") {
			t.Errorf("all start at once:\n%s", &b)
		}
	}
}

// Every weight is drawn in proportion, the first and the last as well; no weight is never drawn.
func TestPickIsProportional(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	weights := []float64{1, 0, 3, 4}
	const n = 40_000
	count := make([]float64, len(weights))
	for range n {
		count[pick(rng, len(weights), func(i int) float64 { return weights[i] })]++
	}
	for i, w := range weights {
		if got := count[i] / n; math.Abs(got-w/8) > 0.01 || w == 0 && got > 0 {
			t.Errorf("number %d of %v gets %.3f", i, weights, got)
		}
	}
}

// A workload may take the whole trace, and run at the fastest time; it asks for no more and no faster.
func TestBoundsOfAWorkload(t *testing.T) {
	requests := []Request{{ID: "a", Demand: cluster.Resources{1, 1, 1}}, {ID: "b"}}
	for _, c := range []struct {
		n     int
		scale float64
		len   int // 0: refused
	}{{-1, 1, 0}, {0, 1, 2}, {1, 1, 1}, {2, 1, 2}, {3, 1, 0}, {0, 0.99, 0}, {0, cluster.MaxTimeScale, 2}, {0, cluster.MaxTimeScale * 2, 0},
		{0, math.NaN(), 0}} {
		w, err := NewWorkload(requests, Options{N: c.n, Pacing: Pacing{TraceScale: 1, TimeScale: c.scale}})
		if (err == nil) != (c.len > 0) || err == nil && w.Len() != c.len {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := NewWorkload(nil, Options{Pacing: Pacing{TraceScale: 1, TimeScale: 1}}); err == nil {
		t.Error("a trace without requests was accepted")
	}
	w, err := NewWorkload(requests, Options{NoDisk: true, Pacing: Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil || *w.Task(0).Demand != (cluster.Resources{1, 1}) {
		t.Errorf("%v, %v: want no disk", w.Task(0).Demand, err)
	}
}

// The row of a task is its record on the client's clock: what its worker counted ends when the scheduler knew of the
// end, a task that was submitted again was received when it was first sent, and one that was lost has no times.
func TestRowsOfRecords(t *testing.T) {
	const start = time.Hour
	record := func(change func(r *cluster.TaskRecord)) *cluster.TaskRecord {
		r := &cluster.TaskRecord{Worker: "w", Outcome: cluster.Finished, Received: start + 100*ms, Scheduling: 10 * ms, Wait: 20 * ms,
			Run: 300 * ms, Makespan: 340 * ms, Attempts: 1, ExitCode: 7, Estimate: 5}
		if change != nil {
			change(r)
		}
		return r
	}
	row := func(received, enqueued, started, finished, completed time.Duration) Row {
		return Row{Received: received, Enqueued: enqueued, Started: started, Finished: finished, Completed: completed}
	}
	for _, c := range []struct {
		what        string
		record      *cluster.TaskRecord
		submissions int
		want        Row
		attempts    int
	}{
		{"as usual", record(nil), 1, row(100*ms, 110*ms, 130*ms, 430*ms, 440*ms), 1},
		{"an acknowledgement that came late", record(func(r *cluster.TaskRecord) { r.Scheduling = 200 * ms }), 1,
			row(100*ms, 120*ms, 140*ms, 440*ms, 440*ms), 1},
		{"more than there was time for", record(func(r *cluster.TaskRecord) { r.Wait = 200 * ms }), 1,
			row(100*ms, 100*ms, 300*ms, 600*ms, 440*ms), 1},
		{"submitted again", record(nil), 2, row(50*ms, 110*ms, 130*ms, 430*ms, 440*ms), 2},
		{"submitted again, by another clock", record(func(r *cluster.TaskRecord) { r.Received = start + 20*ms }), 3,
			row(50*ms, 60*ms, 80*ms, 380*ms, 390*ms), 3},
		{"retried by its scheduler", record(func(r *cluster.TaskRecord) { r.Attempts = 3 }), 2, row(50*ms, 110*ms, 130*ms, 430*ms, 440*ms), 4},
		{"refused before any placement", record(func(r *cluster.TaskRecord) { r.Worker, r.Attempts = "", 0 }), 1,
			row(100*ms, Never, Never, Never, Never), 1},
		{"lost", record(func(r *cluster.TaskRecord) { r.Outcome = cluster.Lost }), 1, row(100*ms, Never, Never, Never, Never), 1},
		{"cancelled in the queue", record(func(r *cluster.TaskRecord) { r.Outcome, r.Run = cluster.Cancelled, 0 }), 1,
			row(100*ms, 110*ms, Never, Never, 440*ms), 1},
		{"finished in no time", record(func(r *cluster.TaskRecord) { r.Run, r.Makespan = 0, 40*ms }), 1,
			row(100*ms, 110*ms, 130*ms, 130*ms, 140*ms), 1},
	} {
		got := Row{Sent: 50 * ms, Received: Never, Enqueued: Never, Started: Never, Finished: Never, Completed: Never, ExitCode: neverRan}
		got.Fill(c.record, start, c.submissions)
		times := row(got.Received, got.Enqueued, got.Started, got.Finished, got.Completed)
		ran := c.want.Finished != Never
		if times != c.want || got.Attempts != c.attempts || (got.ExitCode == 7) != ran || !ran && got.ExitCode != neverRan {
			t.Errorf("%s: %+v, %d attempts, exit code %d; want %+v, %d", c.what, times, got.Attempts, got.ExitCode, c.want, c.attempts)
		}
	}
}

// A class may have nothing of anything, and a run no tasks; less than that, or time that stands still, is refused.
func TestBoundsOfARunDescription(t *testing.T) {
	for text, ok := range map[string]bool{
		`"time_scale":1,"classes":[{"nodes":0,"cores":0,"memory_mb":0}]`: true,
		`"time_scale":1,"classes":[{"nodes":-1}]`:                        false,
		`"time_scale":1,"classes":[{"cores":-1}]`:                        false,
		`"time_scale":1,"classes":[{"memory_mb":-1}]`:                    false,
		`"time_scale":0`:                false,
		`"time_scale":0.5`:              true,
		`"time_scale":1,"tasks":-1`:     false,
		`"time_scale":1,"warmup":-1`:    false,
		`"time_scale":1,"rows_version"`: false,
	} {
		_, err := ReadRunInfo(strings.NewReader(fmt.Sprintf(`{"rows_version":%d,%s}`, RowsVersion, text)))
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The span of a trace is from its first start to its last.
func TestSpanOfATrace(t *testing.T) {
	if got := Describe([]Request{{Start: 3 * time.Second}, {Start: 5 * time.Second}}).Span; got != 2*time.Second {
		t.Errorf("%v, want 2s", got)
	}
}
