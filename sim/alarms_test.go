package sim

import (
	"fmt"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// Short tasks beside a long one leave no alarm for its far-off moment behind each.
func TestAlarmsAreFew(t *testing.T) {
	cfg := tiny(t, "dodoor", 1)
	cfg.Reestimate = true
	requests := []generator.Request{{ID: "long", Type: "simulated", Duration: 10_000_000, Demand: cluster.Resources{1000}}}
	for i := range 1000 {
		requests = append(requests, generator.Request{ID: fmt.Sprint(i), Type: "simulated", Start: time.Duration(i) * time.Second, Duration: 15,
			Demand: cluster.Resources{1000}})
	}
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Workload = w
	s := start(t, cfg)
	if stopped, err := s.run(); stopped || err != nil {
		t.Fatal(stopped, err)
	}
	messages := len(s.heap)
	for m := s.free[noRequest]; m != nil; m = m.next {
		messages++
	}
	if messages > 100 {
		t.Errorf("%d messages for two tasks at a time", messages)
	}
}
