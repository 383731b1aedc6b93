package assemble

import (
	"slices"
	"testing"
	"time"

	"dodoor/conf"
)

func arrivals(t *testing.T, sets ...string) []time.Duration {
	t.Helper()
	c, err := conf.Load("paper", append([]string{"generator.qps=80", "generator.n=500"}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	w, err := Workload(c, "")
	if err != nil {
		t.Fatal(err)
	}
	due := make([]time.Duration, w.Len())
	for i := range due {
		due[i] = w.Due(i)
	}
	return due
}

// Bursts are part of what runs are paired by: the seed and the setting decide, not the policy.
func TestBurstsAreTheSameUnderEveryPolicy(t *testing.T) {
	bursty := arrivals(t, "generator.burst=5", "scheduler.policy=dodoor")
	if !slices.Equal(bursty, arrivals(t, "generator.burst=5", "scheduler.policy=pot")) {
		t.Error("two policies see different bursts")
	}
	if slices.Equal(bursty, arrivals(t, "generator.burst=1")) || slices.Equal(bursty, arrivals(t, "generator.burst=5", "seed=2")) {
		t.Error("neither the burst nor the seed makes a difference")
	}
}

// Samples do not grow with the length of the run, whether arrivals or work make it long.
func TestSamplesOfALongRun(t *testing.T) {
	for _, sets := range [][]string{
		{"generator.qps=0.1", "generator.n=1000"},                             // ten thousand seconds of arrivals
		{"generator.qps=1000", "generator.n=5000", `generator.trace="azure"`}, // five seconds, and an hour of work
	} {
		c, err := conf.Load("paper", append([]string{`generator.trace="functionbench"`}, sets...))
		if err != nil {
			t.Fatal(err)
		}
		w, err := Workload(c, "")
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := Simulator(c, w)
		if err != nil {
			t.Fatal(err)
		}
		if cfg.SampleEvery < 4*leastBetweenSamples {
			t.Errorf("%v: samples every %v", sets, cfg.SampleEvery)
		}
	}
}
