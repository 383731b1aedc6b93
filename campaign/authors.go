package campaign

import (
	"math/rand/v2"
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/report/stats"
)

// Clock is how a run's throughput and P99 makespan are measured. The prototype's scripts do so differently from
// this project, in three ways; each is a switch.
type Clock struct {
	Start   bool // throughput counts from the start of the run, not from the first arrival after the warm-up
	Warmup  bool // warm-up tasks count
	Sampled bool // percentiles are those of a uniform sample of sampleSize tasks, not of all
}

// authorsClock has every switch on; ours, the zero value, none.
var authorsClock = Clock{Start: true, Warmup: true, Sampled: true}

// sampleSize is that of the prototype's histograms, which keep a uniform sample.
const sampleSize = 1028

// clocks are those by which every run is measured: the authors', and ours with one switch each.
var clocks = []Clock{authorsClock, {Start: true}, {Warmup: true}, {Sampled: true}}

// Reading is a run by one clock, in trace time.
type Reading struct{ ThroughputPerS, P99S float64 }

// Stopwatch reads a run by every clock.
type Stopwatch struct {
	scale float64
	hands []hand
}

type hand struct {
	clock    Clock
	first    time.Duration // arrival from which the throughput counts
	begun    bool
	last     time.Duration // completion
	makespan []float64     // s
	done     int           // tasks seen; makespan holds at most sampleSize of them where it is a sample
	draws    *rand.Rand
}

// NewStopwatch starts reading a run; the samples are drawn by its seed.
func NewStopwatch(info *generator.RunInfo) *Stopwatch {
	s := &Stopwatch{scale: info.TimeScale}
	for i, c := range clocks {
		s.hands = append(s.hands, hand{clock: c, draws: rand.New(rand.NewPCG(info.Seed, uint64(i)))})
	}
	return s
}

// Add takes one row. Rows may come in any order.
func (s *Stopwatch) Add(r *generator.Row) {
	for i := range s.hands {
		if h := &s.hands[i]; h.clock.Warmup || !r.Warmup {
			h.add(r, s.scale)
		}
	}
}

func (h *hand) add(r *generator.Row, scale float64) {
	if !h.clock.Start && (!h.begun || r.Scheduled < h.first) {
		h.first, h.begun = r.Scheduled, true
	}
	if r.Outcome != cluster.Finished {
		return
	}
	h.last = max(h.last, r.Completed)
	h.done++
	makespan := (r.Completed - r.Received).Seconds() * scale
	switch {
	case !h.clock.Sampled || len(h.makespan) < sampleSize:
		h.makespan = append(h.makespan, makespan)
	default: // Vitter's algorithm R
		if at := h.draws.IntN(h.done); at < sampleSize {
			h.makespan[at] = makespan
		}
	}
}

// Readings are the figures by clock.
func (s *Stopwatch) Readings() map[Clock]Reading {
	all := map[Clock]Reading{}
	for i := range s.hands {
		h := &s.hands[i]
		var reading Reading
		if h.done > 0 {
			slices.Sort(h.makespan)
			reading.P99S = stats.NearestRank(h.makespan, 990)
			reading.ThroughputPerS = float64(h.done) / ((h.last - h.first).Seconds() * s.scale)
		}
		all[h.clock] = reading
	}
	return all
}
