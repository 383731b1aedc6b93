package telemetry

import (
	"bytes"
	"io"
	"log/slog"
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// sampleRegistry has one metric of each kind, with figures that differ.
func sampleRegistry(name string) *Registry {
	r := NewRegistry("scheduler", name)
	r.OnCollect("decisions_total", "Placement decisions.", nil, func(set SetFunc) { set(42) })
	r.Gauge("view_age_decisions", "Decisions since the last snapshot.", func() float64 { return 7.5 })
	h := r.Histogram("decision_seconds", "Time to decide.")
	h.Observe(150 * time.Nanosecond)
	h.Observe(time.Hour)
	r.OnCollect("rpcs_total", "RPCs by kind.", []string{"kind", "direction"}, func(set SetFunc) {
		set(3, "submit", "in")
		set(5, "enqueue", "out")
	})
	return r
}

func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("a Prometheus parser refuses the page: %v\n%s", err, text)
	}
	return families
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := make(map[string]string)
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

func TestPrometheusTextHoldsEveryMetric(t *testing.T) {
	s := start(t, ServerConfig{Registries: []*Registry{sampleRegistry("s0")}})
	families := parse(t, s.get(t, "/metrics", 200))

	counter := families["dodoor_scheduler_decisions_total"]
	if counter.GetType() != dto.MetricType_COUNTER || counter.Metric[0].GetCounter().GetValue() != 42 ||
		counter.GetHelp() != "Placement decisions." {
		t.Errorf("counter: %v", counter)
	}
	if got := labelsOf(counter.Metric[0]); !maps.Equal(got, map[string]string{"service": "scheduler", "name": "s0"}) {
		t.Errorf("labels of the counter: %v", got)
	}
	gauge := families["dodoor_scheduler_view_age_decisions"]
	if gauge.GetType() != dto.MetricType_GAUGE || gauge.Metric[0].GetGauge().GetValue() != 7.5 {
		t.Errorf("gauge: %v", gauge)
	}
	h := families["dodoor_scheduler_decision_seconds"].Metric[0].GetHistogram()
	if h.GetSampleCount() != 2 || h.GetSampleSum() != 3600+150e-9 || len(h.Bucket) != bucketCount+1 {
		t.Errorf("histogram: %v", h)
	}
	for i, want := range []uint64{0, 1, 1} {
		if h.Bucket[i].GetCumulativeCount() != want {
			t.Errorf("bucket %d: %v, want %d", i, h.Bucket[i], want)
		}
	}
	rpcs := families["dodoor_scheduler_rpcs_total"]
	byKind := make(map[string]float64)
	for _, m := range rpcs.Metric {
		byKind[labelsOf(m)["kind"]+" "+labelsOf(m)["direction"]] = m.GetCounter().GetValue()
	}
	if !maps.Equal(byKind, map[string]float64{"submit in": 3, "enqueue out": 5}) {
		t.Errorf("family: %v", rpcs)
	}
	if families["go_goroutines"] == nil || families["process_resident_memory_bytes"] == nil {
		t.Error("the page says nothing about the process")
	}
}

func TestPrometheusTextPassesTheLinter(t *testing.T) {
	s := start(t, ServerConfig{Registries: []*Registry{sampleRegistry("s0"), sampleRegistry("s1")}})
	text := s.get(t, "/metrics", 200)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("linter: %v, %v", problems, err)
	}
	if promtool, err := exec.LookPath("promtool"); err == nil {
		check := exec.Command(promtool, "check", "metrics")
		check.Stdin = strings.NewReader(text)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("promtool: %v\n%s", err, out)
		}
	}
}

func TestServicesOfOneProcessShareAPage(t *testing.T) {
	s := start(t, ServerConfig{Registries: []*Registry{sampleRegistry("s0"), sampleRegistry("s1")}})
	names := make(map[string]bool)
	for _, m := range parse(t, s.get(t, "/metrics", 200))["dodoor_scheduler_decisions_total"].Metric {
		names[labelsOf(m)["name"]] = true
	}
	if !names["s0"] || !names["s1"] || len(names) != 2 {
		t.Errorf("schedulers on the page: %v", names)
	}
}

func TestTwoServicesOfOneNameAreRefused(t *testing.T) {
	_, err := NewServer(ServerConfig{Addr: "127.0.0.1:0", Log: quiet(),
		Registries: []*Registry{sampleRegistry("s0"), sampleRegistry("s0")},
		Ready:      func() error { return nil }})
	if err == nil || !strings.Contains(err.Error(), `metrics of scheduler "s0"`) {
		t.Errorf("error %v does not name the service", err)
	}
}

func TestABadSampleDoesNotHideTheOthers(t *testing.T) {
	r := sampleRegistry("s0")
	r.OnCollect("tasks_total", "Tasks by state.", []string{"state"}, func(set SetFunc) { set(1) })
	var logged bytes.Buffer
	s := start(t, ServerConfig{Registries: []*Registry{r}, Log: slog.New(slog.NewTextHandler(&logged, nil))})
	families := parse(t, s.get(t, "/metrics", 200))
	if families["dodoor_scheduler_decisions_total"] == nil {
		t.Error("the good samples are missing")
	}
	s.stop(t)
	if !strings.Contains(logged.String(), "dodoor_scheduler_tasks_total") {
		t.Errorf("the log does not name the bad sample: %s", logged.String())
	}
}

func TestDeclarationDefectsPanic(t *testing.T) {
	defects := map[string]func(r *Registry){
		"not end in _total": func(r *Registry) { r.Gauge("queued_total", "", nil) },
		"end in _seconds":   func(r *Registry) { r.Histogram("latency_ms", "") },
		"declared twice":    func(r *Registry) { r.OnCollect("decisions_total", "", nil, nil) },
	}
	for want, declare := range defects {
		r := sampleRegistry("s0")
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.Contains(got, want) {
					t.Errorf("panic %q, want one that says %q", got, want)
				}
			}()
			declare(r)
		}()
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
