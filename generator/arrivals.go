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
)

// maxDue bounds when the last request may be due, so that a rate mistyped by orders of magnitude is
// an error and not a run that never ends.
const maxDue = maxStart

// Pacing says when requests arrive.
type Pacing struct {
	QPS        float64 // requests per second of trace time, Poisson; 0: the trace's own times
	TraceScale float64 // divides the trace's own times; >= 1 compresses them, below 1 stretches them
	TimeScale  float64 // emulation: divides every time; 1 is real time
	Seed       uint64  // of the Poisson process
}

// Due returns when each request is due, as time on the wall since the start of the run. Times are
// exact sums, rounded once to the nanosecond, so no error builds up. The Poisson process of a seed
// is one sequence of unit-rate arrivals: another rate stretches it and keeps its pattern.
func (p Pacing) Due(requests []Request) ([]time.Duration, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	due := make([]time.Duration, len(requests))
	rng := rand.New(rand.NewPCG(p.Seed, arrivalStream))
	unitArrival := 0.0
	for i := range requests {
		var seconds float64
		if p.QPS > 0 {
			unitArrival += rng.ExpFloat64()
			seconds = unitArrival / p.QPS / p.TimeScale
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

func (p Pacing) check() error {
	if !(p.QPS >= 0) || math.IsInf(p.QPS, 0) {
		return fmt.Errorf("qps is %g: it must be a positive number, or 0 for the trace's own times", p.QPS)
	}
	if p.QPS == 0 && (!(p.TraceScale > 0) || math.IsInf(p.TraceScale, 0)) {
		return fmt.Errorf("trace scale is %g: it must be a positive number", p.TraceScale)
	}
	if !(p.TimeScale > 0) || math.IsInf(p.TimeScale, 0) {
		return fmt.Errorf("time scale is %g: it must be a positive number", p.TimeScale)
	}
	return nil
}
