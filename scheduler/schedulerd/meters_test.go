package schedulerd

import (
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"dodoor/internal/cluster"
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
	submitAll(t, client, "cancelled")
	awaitHeld(t, workers, 21)
	for _, w := range workers {
		w.endAll(t, client, func(id string) cluster.Outcome {
			if id == "cancelled" {
				return cluster.Cancelled
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
