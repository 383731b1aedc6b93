package worker

import (
	"math"
	"math/rand/v2"
	"time"
)

// Emulation says how long an emulated execution takes: its estimate times a random factor, divided by
// the task's time scale. The sleep executor and the simulator share it, so that the same run takes the
// same durations in both.
type Emulation struct {
	// Sigma is the standard deviation of the logarithm of the factor: how wrong estimates are. The
	// factor's mean is 1; 0 makes estimates exact.
	Sigma float64
	Seed  uint64 // of the run; the factor depends on it and the task alone
}

// noiseStream separates the draws for a task's duration from those for its placement, which come
// from the same seeds.
const noiseStream = 0x9e3779b97f4a7c15

// Duration is d̂ × exp(σz − σ²/2) ÷ k, where z is the task's own standard normal draw: a lognormal
// factor of mean 1.
func (e Emulation) Duration(s *Start) time.Duration {
	d := float64(s.Shape.Duration) * float64(time.Millisecond) / s.TimeScale
	if e.Sigma > 0 {
		z := rand.New(rand.NewPCG(e.Seed^noiseStream, s.Seed)).NormFloat64()
		d *= math.Exp(e.Sigma*z - e.Sigma*e.Sigma/2)
	}
	return span(d)
}
