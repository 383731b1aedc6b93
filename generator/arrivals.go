package generator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Streams of random numbers drawn from one run seed: each use has its own, so that adding draws to
// one does not shift another.
const (
	arrivalStream = 0x6172726976616c73 + iota
	mixStream
	azureStream
	burstStream
	jitterStream
)

// maxDue bounds when the last request may be due, so that a rate mistyped by orders of magnitude is
// an error and not a run that never ends.
const maxDue = maxStart

// Pacing says when requests arrive.
type Pacing struct {
	QPS        float64 // requests per second of trace time, Poisson; 0: the trace's own times
	Burst      float64 // rate of the busy phases over QPS (bursts.go), up to MaxBurst; 0 and 1: plain Poisson
	TraceScale float64 // divides the trace's own times; >= 1 compresses them, below 1 stretches them
	TimeScale  float64 // emulation: divides every time; 1 is real time
	Seed       uint64  // of the arrivals

	WholeMilliseconds bool // of trace time: gaps are rounded down to them, as in the paper's prototype
}

// Due returns when each request is due, as time on the wall since the start of the run. Times are
// exact sums, rounded once to the nanosecond, so no error builds up. The arrivals of a seed are one
// sequence at a mean rate of one: another rate stretches it and keeps its pattern.
func (p Pacing) Due(requests []Request) ([]time.Duration, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	due := make([]time.Duration, len(requests))
	clock := p.clock()
	for i := range requests {
		var seconds float64
		if p.QPS > 0 {
			seconds = clock() / p.QPS / p.TimeScale
		} else {
			seconds = requests[i].Start.Seconds() / p.TraceScale / p.TimeScale
		}
		nanos := math.Round(seconds * 1e9)
		if nanos > float64(maxDue) {
			return nil, fmt.Errorf("request %d of %d (id %q) would be due %.3g days after the start: use a higher rate or scale",
				i+1, len(requests), requests[i].ID, seconds/86400)
		}
		due[i] = time.Duration(nanos)
	}
	return due, nil
}

// clock returns the arrivals of the seed at a mean rate of one, one by one.
func (p Pacing) clock() func() float64 {
	if p.WholeMilliseconds {
		return truncated(p.unitClock(), p.QPS)
	}
	return p.unitClock()
}

// truncated rounds the gaps between arrivals down to whole milliseconds at a rate.
func truncated(clock func() float64, qps float64) func() float64 {
	before, now := 0.0, 0.0
	return func() float64 {
		next := clock()
		now += math.Floor((next-before)/qps*1000) / 1000 * qps
		before = next
		return now
	}
}

func (p Pacing) unitClock() func() float64 {
	rng := rand.New(rand.NewPCG(p.Seed, arrivalStream))
	if p.Burst <= 1 {
		now := 0.0
		return func() float64 {
			now += rng.ExpFloat64()
			return now
		}
	}
	b := newBursts(p.Burst, rand.New(rand.NewPCG(p.Seed, burstStream)))
	return func() float64 { return b.advance(rng.ExpFloat64()) }
}

func (p Pacing) check() error {
	if !(p.QPS >= 0) || math.IsInf(p.QPS, 0) {
		return fmt.Errorf("qps is %g: it must be a positive number, or 0 for the trace's own times", p.QPS)
	}
	if p.Burst != 0 && !(p.Burst >= 1 && p.Burst <= MaxBurst) {
		return fmt.Errorf("burst is %g: it must be between 1 (plain Poisson) and %d", p.Burst, MaxBurst)
	}
	if p.Burst > 1 && p.QPS == 0 {
		return fmt.Errorf("burst is %g and qps 0: the trace's own times have no bursts but their own", p.Burst)
	}
	if p.QPS == 0 && (!(p.TraceScale > 0) || math.IsInf(p.TraceScale, 0)) {
		return fmt.Errorf("trace scale is %g: it must be a positive number", p.TraceScale)
	}
	if !(p.TimeScale > 0) || math.IsInf(p.TimeScale, 0) {
		return fmt.Errorf("time scale is %g: it must be a positive number", p.TimeScale)
	}
	return nil
}
