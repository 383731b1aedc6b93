// Package telemetry holds what an operator sees of a running service: live metrics (go-metrics
// inside, Prometheus text outside), health and readiness over HTTP, and the structured log.
//
// Live metrics are for watching. The figures of an experiment come from the raw rows, which are
// exact; a histogram here knows only which power-of-two bucket a duration fell into.
package telemetry

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	metrics "github.com/rcrowley/go-metrics"
)

// Registry holds the live metrics of one service. Metrics are declared while the service is built,
// by one goroutine and before NewServer; updating and reading them is safe for concurrent use.
//
// A metric's full name is dodoor_<service>_<name>; every sample carries the labels service and name.
// Names follow Prometheus: counters end in _total, histograms in _seconds, nothing else in _total.
// Declaring a metric twice or against that rule is a defect in the program and panics.
type Registry struct {
	service, name string

	// live knows counters and gauges alone: go-metrics' meters start a goroutine that never ends,
	// and its histograms sample.
	live       metrics.Registry
	descs      map[string]*prometheus.Desc
	histograms map[string]*Histogram
	families   []family
}

// A family is one metric whose samples a service computes when it is asked.
type family struct {
	desc    *prometheus.Desc
	kind    prometheus.ValueType
	collect func(set SetFunc)
}

// SetFunc publishes one sample of a family: its value and one value per declared label.
type SetFunc func(value float64, labelValues ...string)

// NewRegistry returns an empty registry for the service ("scheduler", "worker", ...) called name.
func NewRegistry(service, name string) *Registry {
	return &Registry{
		service:    service,
		name:       name,
		live:       metrics.NewRegistry(),
		descs:      make(map[string]*prometheus.Desc),
		histograms: make(map[string]*Histogram),
	}
}

// Counter is a count of events since the process started. The zero value is not usable.
type Counter struct{ live metrics.Counter }

// Inc adds one.
func (c Counter) Inc() { c.live.Inc(1) }

// Add adds n events. It panics when n is negative: a counter that falls reads as a restart.
func (c Counter) Add(n int64) {
	if n < 0 {
		panic(fmt.Sprintf("telemetry: %d added to a counter", n))
	}
	c.live.Inc(n)
}

// Value returns the count.
func (c Counter) Value() int64 { return c.live.Count() }

// Counter declares a counter; name ends in _total.
func (r *Registry) Counter(name, help string) Counter {
	if !isTotal(name) {
		panic(fmt.Sprintf("telemetry: counter %q must end in _total", name))
	}
	r.declare(name, help)
	c := metrics.NewCounter()
	r.register(name, c)
	return Counter{c}
}

// Gauge declares a figure that is read when somebody asks: read is called from any goroutine and
// must not block.
func (r *Registry) Gauge(name, help string, read func() float64) {
	if isTotal(name) {
		panic(fmt.Sprintf("telemetry: gauge %q must not end in _total", name))
	}
	r.declare(name, help)
	r.register(name, metrics.NewFunctionalGaugeFloat64(read))
}

// Histogram declares a distribution of durations; name ends in _seconds.
func (r *Registry) Histogram(name, help string) *Histogram {
	if !strings.HasSuffix(name, "_seconds") {
		panic(fmt.Sprintf("telemetry: histogram %q must end in _seconds", name))
	}
	r.declare(name, help)
	h := new(Histogram)
	r.histograms[name] = h
	return h
}

// OnCollect declares a family of samples told apart by labels, such as a service's map of RPC
// counts by kind; it is a counter when name ends in _total and a gauge otherwise. collect runs
// whenever somebody asks, from any goroutine; it must not block, nor keep set.
func (r *Registry) OnCollect(name, help string, labels []string, collect func(set SetFunc)) {
	kind := prometheus.GaugeValue
	if isTotal(name) {
		kind = prometheus.CounterValue
	}
	r.families = append(r.families, family{r.declare(name, help, labels...), kind, collect})
}

func (r *Registry) declare(name, help string, labels ...string) *prometheus.Desc {
	if r.descs[name] != nil {
		panic(fmt.Sprintf("telemetry: metric %q of %s %s is declared twice", name, r.service, r.name))
	}
	d := prometheus.NewDesc(prometheus.BuildFQName("dodoor", r.service, name), help, labels,
		prometheus.Labels{"service": r.service, "name": r.name})
	r.descs[name] = d
	return d
}

// register cannot fail: declare has seen that the name is new.
func (r *Registry) register(name string, metric any) {
	if err := r.live.Register(name, metric); err != nil {
		panic("telemetry: " + err.Error())
	}
}

func isTotal(name string) bool { return strings.HasSuffix(name, "_total") }
