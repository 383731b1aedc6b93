package worker

import (
	"math"
	"math/rand/v2"
	"time"
)

// Emulation says how long an emulated execution takes: what it was given times a random factor, divided by
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

// Duration is d × f ÷ k, where f is the task's own factor, and d what it was given, or else its estimate.
func (e Emulation) Duration(s *Start) time.Duration {
	d := float64(s.Given()) * float64(time.Millisecond) / s.TimeScale * e.Factor(s.Seed)
	return span(d)
}

// Factor is exp(σz − σ²/2), where z is the standard normal draw of the task with this seed: a lognormal factor of mean 1.
func (e Emulation) Factor(seed uint64) float64 {
	if e.Sigma == 0 {
		return 1
	}
	z := rand.New(rand.NewPCG(e.Seed^noiseStream, seed)).NormFloat64()
	return math.Exp(e.Sigma*z - e.Sigma*e.Sigma/2)
}
