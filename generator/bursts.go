package generator

import "math/rand/v2"

// Bursty arrivals are a two-state Markov-modulated Poisson process whose mean rate is one. Busy and quiet
// phases alternate, each of exponential length; arrivals are Poisson at the rate of the phase. Time is in
// units of the mean gap between arrivals (1/qps), so the pattern does not depend on the rate. The first
// phase is drawn from the stationary shares, so the rate is one in expectation from the first moment on.
//
// With a share p of the time busy, busy phases of length T on average and a busy rate of B, the quiet rate
// is (1-pB)/(1-p), and counts over long windows have the index of dispersion 1 + 2p(B-1)²T; it is 1 for
// Poisson. (Fischer and Meier-Hellstern, The Markov-modulated Poisson process cookbook, 1993.)
const (
	busyShare  = 0.1 // p, of the time
	busyLength = 100 // T, in mean gaps: about 100·B requests arrive in a busy phase

	// MaxBurst is the largest B, 1/p: then nothing arrives in quiet phases.
	MaxBurst = 10
)

type phase struct{ rate, length float64 }

// bursts is where the process is.
type bursts struct {
	rng       *rand.Rand // of the phases
	on, other phase
	now, end  float64 // end of the phase that is on
}

func newBursts(burst float64, rng *rand.Rand) *bursts {
	b := &bursts{
		rng:   rng,
		on:    phase{burst, busyLength},
		other: phase{max(0, (1-busyShare*burst)/(1-busyShare)), busyLength * (1 - busyShare) / busyShare},
	}
	if rng.Float64() >= busyShare {
		b.on, b.other = b.other, b.on
	}
	b.end = b.on.length * rng.ExpFloat64() // what is left of an exponential length has the same distribution
	return b
}

// advance goes on until the rate has added up to another work, and returns when that is. Where the works
// are the gaps of a Poisson process of rate one, the times are those of one whose rate follows the phases.
func (b *bursts) advance(work float64) float64 {
	for work > b.on.rate*(b.end-b.now) {
		work -= b.on.rate * (b.end - b.now)
		b.now = b.end
		b.on, b.other = b.other, b.on
		b.end += b.on.length * b.rng.ExpFloat64()
	}
	if b.on.rate > 0 {
		b.now += work / b.on.rate
	}
	return b.now
}
