package sim

import (
	"dodoor/generator"
	"dodoor/internal/cluster"
)

// counters are the request messages as the services count them.
func (s *Simulation) counters() generator.Counters {
	c := generator.Counters{Schedulers: map[string]map[string]int64{}, Data: map[string]int64{"in.report": s.counted[report]}}
	for i := range s.schedulers {
		counts := map[string]int64{}
		for m, name := range counterNames {
			if n := s.sentBy[m][i]; n > 0 && name != "" {
				counts[name] = n
			}
		}
		c.Schedulers[cluster.SchedulerName(i)] = counts
	}
	return c
}

// counterNames are the counters of package rpc, where a scheduler sends or receives the request.
var counterNames = [methods]string{submit: "in.submit", enqueue: "out.enqueue", probe: "out.probe",
	cancel: "out.cancel", complete: "in.complete", push: "in.push", flush: "out.delta"}

// countedOnArrival are those that the receiver counts.
var countedOnArrival = [methods]bool{submit: true, complete: true, push: true, report: true}

// count counts a request, or takes back that it was counted.
func (s *Simulation) count(m *message, n int64) {
	s.counted[m.method] += n
	if counterNames[m.method] != "" {
		s.sentBy[m.method][m.sched] += n
	}
}
