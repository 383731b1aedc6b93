// Package telemetry holds what an operator sees of a running service: live metrics (counts and gauges
// of go-metrics, histograms of Prometheus; docs/design.md says why), health and readiness over HTTP,
// and the structured log.
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

	gauges     metrics.Registry
	descs      map[string]*prometheus.Desc
	histograms []Histogram
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
		service: service,
		name:    name,
		gauges:  metrics.NewRegistry(),
		descs:   make(map[string]*prometheus.Desc),
	}
}

// Gauge declares a figure that is read when somebody asks: read is called from any goroutine and
// must not block.
func (r *Registry) Gauge(name, help string, read func() float64) {
	if isTotal(name) {
		panic(fmt.Sprintf("telemetry: gauge %q must not end in _total", name))
	}
	r.declare(name, help)
	if err := r.gauges.Register(name, metrics.NewFunctionalGaugeFloat64(read)); err != nil {
		panic("telemetry: " + err.Error()) // declare has seen that the name is new
	}
}

// Histogram declares a distribution of durations; name ends in _seconds.
func (r *Registry) Histogram(name, help string) Histogram {
	if !strings.HasSuffix(name, "_seconds") {
		panic(fmt.Sprintf("telemetry: histogram %q must end in _seconds", name))
	}
	r.declare(name, help)
	h := Histogram{prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: namespace, Subsystem: r.service, Name: name, Help: help, ConstLabels: r.labels(), Buckets: bounds})}
	r.histograms = append(r.histograms, h)
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
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, r.service, name), help, labels, r.labels())
	r.descs[name] = d
	return d
}

const namespace = "dodoor"

// labels are those of every sample.
func (r *Registry) labels() prometheus.Labels {
	return prometheus.Labels{"service": r.service, "name": r.name}
}

func isTotal(name string) bool { return strings.HasSuffix(name, "_total") }
