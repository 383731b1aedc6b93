package executor

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Sleep emulates tasks: it waits for the estimated duration times a random factor, divided by the
// task's time scale. A task costs one timer, so that one machine can emulate a large cluster. The
// wait is one deadline from the start (errors do not add up); timers ring up to a millisecond late,
// which under a time scale of k looks like k milliseconds.
type Sleep struct {
	// Sigma is the standard deviation of the logarithm of the factor: how wrong estimates are. The
	// factor's mean is 1; 0 makes estimates exact.
	Sigma float64
	Seed  uint64 // of the run; the factor depends on it and the task alone
}

// noiseStream separates the draws for a task's duration from those for its placement, which come
// from the same seeds.
const noiseStream = 0x9e3779b97f4a7c15

// Check never fails: nothing needs to be installed.
func (Sleep) Check() error { return nil }

// Emulates reports that time can be scaled.
func (Sleep) Emulates() bool { return true }

// Run waits. The result's CPU time and memory are zero.
func (e Sleep) Run(ctx context.Context, s worker.Start) worker.Result {
	timer := time.NewTimer(e.duration(&s))
	defer timer.Stop()
	select {
	case <-timer.C:
		return worker.Result{Outcome: cluster.Finished}
	case <-ctx.Done():
		return interrupted(ctx)
	}
}

// duration is d̂ × exp(σz − σ²/2) ÷ k, where z is the task's own standard normal draw: a lognormal
// factor of mean 1.
func (e Sleep) duration(s *worker.Start) time.Duration {
	d := float64(estimate(s)) / s.TimeScale
	if e.Sigma > 0 {
		z := rand.New(rand.NewPCG(e.Seed^noiseStream, s.Seed)).NormFloat64()
		d *= math.Exp(e.Sigma*z - e.Sigma*e.Sigma/2)
	}
	return time.Duration(math.Min(d, math.MaxInt64/2))
}
