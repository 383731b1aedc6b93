package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"
	metrics "github.com/rcrowley/go-metrics"
)

// Registry is a prometheus.Collector over its own metrics.
var _ prometheus.Collector = (*Registry)(nil)

// Describe implements prometheus.Collector.
func (r *Registry) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range r.descs {
		descs <- d
	}
}

// Collect implements prometheus.Collector. A sample that cannot be published (a wrong number of
// label values, say) is reported as an error in its place and does not hold back the others.
func (r *Registry) Collect(out chan<- prometheus.Metric) {
	r.gauges.Each(func(name string, metric any) {
		out <- sample(r.descs[name], prometheus.GaugeValue, metric.(metrics.GaugeFloat64).Value())
	})
	for _, h := range r.histograms {
		out <- h.live
	}
	for _, f := range r.families {
		f.collect(func(v float64, labelValues ...string) {
			out <- sample(f.desc, f.kind, v, labelValues...)
		})
	}
}

func sample(d *prometheus.Desc, kind prometheus.ValueType, v float64, labelValues ...string) prometheus.Metric {
	m, err := prometheus.NewConstMetric(d, kind, v, labelValues...)
	if err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	return m
}
