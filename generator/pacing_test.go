package generator

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The last request may be due at the bound, and no later; the error says when it would be.
func TestTheLatestRequest(t *testing.T) {
	due := func(start time.Duration, scale float64) error {
		_, err := Pacing{TraceScale: scale, TimeScale: 1}.Due([]Request{{ID: "a", Start: start}})
		return err
	}
	if err := due(maxDue, 1); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	if err := due(maxDue, 0.5); err == nil {
		t.Error("at twice the bound it was accepted")
	}
	if err := due(24*time.Hour, 1e-6); err == nil || !strings.Contains(err.Error(), `request 1 of 1 (id "a") would be due 1e+06 days`) {
		t.Errorf("a day, stretched a million times: %v", err)
	}
}

// A burst of 1 is none: the arrivals are those without, and the trace's own times allow it.
func TestABurstOfOneIsNone(t *testing.T) {
	requests := make([]Request, 100)
	plain, err := Pacing{QPS: 10, TimeScale: 1, Seed: 3}.Due(requests)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Pacing{QPS: 10, Burst: 1, TimeScale: 1, Seed: 3}.Due(requests)
	if err != nil || !slices.Equal(one, plain) {
		t.Errorf("other arrivals, or %v", err)
	}
	for _, p := range []Pacing{{Burst: 1, TraceScale: 1, TimeScale: 1}, {QPS: 1, Burst: MaxBurst, TimeScale: 1}} {
		if _, err := p.Due(requests); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, p := range []Pacing{{Burst: 1.1, TraceScale: 1, TimeScale: 1}, {QPS: 1, Burst: MaxBurst + 0.1, TimeScale: 1},
		{QPS: 1, Burst: 0.9, TimeScale: 1}} {
		if _, err := p.Due(requests); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
}
