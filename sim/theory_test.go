package sim_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/sim"
)

var wholeTheory = flag.Bool("theory", false, "run the queueing models at high load as well, about a minute")

const (
	tolerance = 0.05 // of a mean against the formula's

	// meanService is the mean duration: durations are whole milliseconds, which must not show.
	meanService = 2 * time.Second
)

// poisson is n tasks of one core with exponential durations that arrive with a rate per mean duration.
func poisson(n int, rate float64, seed uint64) []generator.Request {
	rng := rand.New(rand.NewPCG(seed, 1))
	requests, at := make([]generator.Request, n), 0.0
	for i := range requests {
		at += rng.ExpFloat64() / rate
		requests[i] = unit(i, time.Duration(at*float64(meanService)),
			time.Duration(rng.ExpFloat64()*float64(meanService)).Round(time.Millisecond))
	}
	return requests
}

// meanTimes are the mean wait and sojourn in mean durations, of all but the first tasks.
func meanTimes(t *testing.T, cfg sim.Config, skip int) (wait, sojourn float64) {
	t.Helper()
	n := 0.0
	cfg.Row = func(r *generator.Row) error {
		if i, err := strconv.Atoi(r.TaskID); err != nil || i < skip {
			return err
		}
		n++
		wait += float64(r.Started-r.Received) / float64(meanService)
		sojourn += float64(r.Completed-r.Received) / float64(meanService)
		return nil
	}
	if _, err := sim.Run(cfg); err != nil {
		t.Fatal(err)
	}
	return wait / n, sojourn / n
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	off := got/want - 1
	t.Logf("%s %.4f, the theory says %.4f (%+.1f %%)", what, got, want, 100*off)
	if math.Abs(off) > tolerance {
		t.Errorf("%s: more than %v off", what, tolerance)
	}
}

// erlangC is the mean wait of M/M/c in mean durations: the probability to wait over c(1-ρ).
func erlangC(c int, rho float64) float64 {
	a, term, sum := float64(c)*rho, 1.0, 0.0
	for k := range c {
		sum += term
		term *= a / float64(k+1)
	}
	term /= 1 - rho
	return term / (sum + term) / (float64(c) * (1 - rho))
}

// One node with c slots is M/M/c. A mean of so many waits is good to one to three per cent; the seed is fixed.
func TestTheoryOfOneNode(t *testing.T) {
	for _, c := range []int{1, 4, 16} {
		for _, rho := range []float64{0.7, 0.9} {
			n := 60_000
			if rho > 0.8 || c > 4 {
				n = 1_500_000 // waits depend on each other for long, or few have any
				if !*wholeTheory {
					continue
				}
			}
			t.Run(fmt.Sprintf("M/M/%d, load %v", c, rho), func(t *testing.T) {
				wait, _ := meanTimes(t, bare(t, "random", equal("a", 1, c), poisson(n, rho*float64(c), 4)), n/100)
				near(t, "mean wait", wait, erlangC(c, rho))
			})
		}
	}
}

// Task by task, the wait is that of a first-come first-served line in front of c servers: whoever is next
// takes the server that is free first (Kiefer and Wolfowitz).
func TestWaitsOfOneNode(t *testing.T) {
	for _, c := range []int{1, 3, 16} {
		requests := poisson(5000, 0.95*float64(c), 2)
		want := make([]time.Duration, len(requests))
		free := make([]time.Duration, c)
		for i := range requests {
			slices.Sort(free)
			start := max(free[0], requests[i].Start)
			want[i] = start - requests[i].Start
			free[0] = start + time.Duration(requests[i].Duration)*time.Millisecond
		}
		rows, _ := run(t, bare(t, "dodoor", equal("a", 1, c), requests))
		for i := range want {
			if r := rows[strconv.Itoa(i)]; r.Started-r.Received != want[i] {
				t.Fatalf("%d servers: task %d waits for %v, want %v", c, i, r.Started-r.Received, want[i])
			}
		}
	}
}

const (
	crowd    = 500 // nodes with one slot
	warmedUp = 0.4 // of a run, until which the idle beginning shows
)

// With many nodes and d live choices, the share of nodes with at least k tasks is ρ^((d^k-1)/(d-1)), the fixed
// point of the supermarket model (Mitzenmacher; Vvedenskaya et al.); by Little, their sum over the rate of
// arrival at a node is the mean time that a task stays. One choice is M/M/1.
func TestTheoryOfManyNodes(t *testing.T) {
	for _, c := range []struct {
		policy  string
		choices int
		rho     float64
		length  float64 // of the run, in mean durations
		quick   bool
	}{{"random", 1, 0.7, 100, true}, {"random", 1, 0.9, 2500, false}, {"pot", 2, 0.7, 60, true}, {"pot", 2, 0.9, 80, true}} {
		if !c.quick && !*wholeTheory {
			continue
		}
		t.Run(fmt.Sprintf("%s, load %v", c.policy, c.rho), func(t *testing.T) {
			share := func(k int) float64 {
				exponent := 0.0
				for j := range k {
					exponent += math.Pow(float64(c.choices), float64(j))
				}
				return math.Pow(c.rho, exponent)
			}
			length := 0.0 // of the mean line, whoever is served included
			for k := 1; k < 1000; k++ {
				length += share(k)
			}
			n := int(crowd * c.rho * c.length)
			skip := int(warmedUp * float64(n))
			cfg := bare(t, c.policy, equal("a", crowd, 1), poisson(n, crowd*c.rho, 1))
			begin, end := cfg.Workload.Due(skip), cfg.Workload.Due(n-1)
			var atLeast [4]float64
			looks := 0.0
			cfg.SampleEvery = meanService
			cfg.Sample = func(s *generator.NodeSample) error {
				if s.Time >= begin && s.Time < end {
					looks++
					for k := range min(s.Queued+s.Running+1, len(atLeast)) {
						atLeast[k]++
					}
				}
				return nil
			}
			_, sojourn := meanTimes(t, cfg, skip)
			near(t, "mean sojourn", sojourn, length/c.rho)
			for k := 1; k < len(atLeast); k++ {
				if share(k) > 0.1 {
					near(t, fmt.Sprintf("nodes with %d tasks or more", k), atLeast[k]/looks, share(k))
				}
			}
		})
	}
}
