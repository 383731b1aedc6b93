package schedulerd

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
)

// scrape returns the scheduler's live metrics by name.
func scrape(t *testing.T, d *Daemon) map[string]*dto.MetricFamily {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(d.cfg.Metrics); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*dto.MetricFamily{}
	for _, f := range families {
		byName[f.GetName()] = f
	}
	return byName
}

// The paper's figures are live (Sec. 5): end-to-end latency as in the records, of the tasks that finished,
// and messages by kind.
func TestLiveMetrics(t *testing.T) {
	d, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, ids(20)...)
	awaitHeld(t, workers, 20)
	submitAll(t, client, "failing")
	awaitHeld(t, workers, 21)
	for _, w := range workers {
		w.endAll(t, client, func(id string) cluster.Outcome {
			if id == "failing" {
				return cluster.Failed
			}
			return cluster.Finished
		})
	}
	var makespans time.Duration
	for _, r := range collect(t, client, 21) {
		if r.Outcome == cluster.Finished {
			makespans += r.Makespan
		}
	}
	families := scrape(t, d)
	h := families["dodoor_scheduler_makespan_seconds"].GetMetric()[0].GetHistogram()
	const rounding = 20 * 1e-6 // records travel in microseconds
	if h.GetSampleCount() != 20 || makespans == 0 || math.Abs(h.GetSampleSum()-makespans.Seconds()) > rounding {
		t.Errorf("%d makespans of %v s in all, want 20 of %v", h.GetSampleCount(), h.GetSampleSum(), makespans)
	}
	messages := map[string]float64{}
	for _, m := range families["dodoor_scheduler_rpcs_total"].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		messages[labels["direction"]+" "+labels["method"]] = m.GetCounter().GetValue()
	}
	if messages["in submit"] != 2 || messages["in complete"] != 2 || messages["out enqueue"] < 2 || messages["out probe"] != 0 {
		t.Errorf("messages %v: want two submissions, two notices, enqueues and no probe", messages)
	}
}

// value is the sample of a family with these labels' values, in the order of their names; 0: there is none.
func value(f *dto.MetricFamily, labels ...string) float64 {
	for _, m := range f.GetMetric() {
		var values []string
		for _, l := range m.GetLabel() {
			if l.GetName() != "name" && l.GetName() != "service" {
				values = append(values, l.GetValue())
			}
		}
		if slices.Equal(values, labels) {
			return m.GetCounter().GetValue()
		}
	}
	return 0
}

// What a scheduler refuses is counted by reason, a task or a whole submission, and so are calls that fail, by their error.
func TestRefusalsAndErrorsAreCounted(t *testing.T) {
	d, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, "twice")
	awaitHeld(t, workers, 1)
	again := cluster.TaskSpec{ID: "twice", Type: "simulated", TimeScale: 1}
	refused, err := client.Submit(t.Context(), cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{again}})
	if err != nil || len(refused) != 1 {
		t.Fatalf("%v, %v", refused, err)
	}
	if _, err := client.Collect(t.Context(), cluster.CollectRequest{Client: "c", After: 99, Max: 1}); !errors.Is(err, cluster.Invalid) {
		t.Fatal(err)
	}
	d.mu.Lock()
	if err := d.replica.Admit("", "c", 1<<40); !errors.Is(err, cluster.Overloaded) {
		t.Error(err)
	}
	d.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	poll.Until(ctx, time.Millisecond, func() bool { return d.counters.Map()["errors.in.collect.invalid"] > 0 }) // after the answer
	families := scrape(t, d)
	for _, c := range []struct {
		family string
		labels []string
	}{
		{"refusals_total", []string{"task", "duplicate_task"}},
		{"refusals_total", []string{"submission", "max_pending"}},
		{"rpc_errors_total", []string{"in", "invalid", "collect"}},
		{"rpc_events_total", []string{"bad_messages"}},
	} {
		if n := value(families["dodoor_scheduler_"+c.family], c.labels...); n != 1 {
			t.Errorf("%s %v is %v, want 1", c.family, c.labels, n)
		}
	}
	counts, err := client.Counters(t.Context())
	if err != nil || counts["refused.duplicate_task"] != 1 || counts["denied.max_pending"] != 1 || counts["errors.in.collect.invalid"] != 1 {
		t.Errorf("counters %v, %v", counts, err)
	}
}
