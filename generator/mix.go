package generator

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// FunctionBenchTypes are the eight task types of the paper's second workload.
var FunctionBenchTypes = []string{
	"float_operation", "linpack", "matmul", "chameleon_rendering",
	"pyaes_generation", "lr_train", "lr_prediction", "rnn_name_generation",
}

// syntheticQPS is the arrival rate that synthetic start times follow (Poisson); both traces of the
// prototype have it.
const syntheticQPS = 10

// ModeWeight is a mode's share of a mix.
type ModeWeight struct {
	Mode   string
	Weight float64
}

// Mix is how the modes of a FunctionBench trace are shared out.
type Mix []ModeWeight

// ShortOnly is the paper's mix; ShortMediumLong is the one of the prototype's trace.
var (
	ShortOnly       = Mix{{"short", 1}}
	ShortMediumLong = Mix{{"short", 0.6}, {"medium", 0.3}, {"long", 0.1}}
)

// ParseMix reads a mix: "short", or the shares of short, medium and long as in "60/30/10".
func ParseMix(s string) (Mix, error) {
	if s == "short" {
		return ShortOnly, nil
	}
	parts := strings.Split(s, "/")
	if len(parts) != len(ShortMediumLong) {
		return nil, fmt.Errorf("mix %q: write short, or the shares of short/medium/long as in 60/30/10", shorten(s))
	}
	var mix Mix
	for i, part := range parts {
		share, _, problem := parseDecimal(part, nanoPlaces)
		if problem != "" || share < 0 {
			return nil, fmt.Errorf("mix %q: the share of %s is %q: it must be a number, 0 or more", shorten(s), ShortMediumLong[i].Mode,
				shorten(part))
		}
		if share > 0 {
			mix = append(mix, ModeWeight{ShortMediumLong[i].Mode, float64(share)})
		}
	}
	if len(mix) == 0 {
		return nil, fmt.Errorf("mix %q: at least one share must be above 0", shorten(s))
	}
	return mix, nil
}

// FunctionBench makes n requests, uniform over the eight types, with modes as mix says. types is the
// profile: it must hold every type and mode asked for, with figures for class.
func FunctionBench(types []cluster.TaskType, class string, mix Mix, n int, seed uint64) ([]Request, error) {
	requests, err := FunctionBenchSeq(types, class, mix, n, seed)
	if err != nil {
		return nil, err
	}
	return slices.AppendSeq(make([]Request, 0, n), requests), nil
}

// FunctionBenchSeq makes the requests of FunctionBench one by one, the same whenever it is ranged over.
func FunctionBenchSeq(types []cluster.TaskType, class string, mix Mix, n int, seed uint64) (iter.Seq[Request], error) {
	if err := CheckCount(n); err != nil {
		return nil, err
	}
	shapes, err := shapesOf(types, class, mix)
	if err != nil {
		return nil, err
	}
	return func(yield func(Request) bool) {
		rng := rand.New(rand.NewPCG(seed, mixStream))
		clock := unitClock{rng: rng}
		for i := range n {
			typ, mode := rng.IntN(len(FunctionBenchTypes)), mix.draw(rng)
			shape := shapes[typ][mode]
			if !yield(Request{
				ID:       strconv.Itoa(i),
				Type:     FunctionBenchTypes[typ],
				Mode:     mix[mode].Mode,
				Demand:   shape.Demand,
				Duration: shape.Duration,
				Start:    clock.next(),
			}) {
				return
			}
		}
	}, nil
}

// maxRequests bounds a synthetic trace, as generator.n of the configuration is bounded.
const maxRequests = 100_000_000

// CheckCount refuses a number of requests that no trace can have.
func CheckCount(n int) error {
	if n < 1 || n > maxRequests {
		return fmt.Errorf("number of requests is %d: it must be at least 1 and at most %d", n, maxRequests)
	}
	return nil
}

// shapesOf looks the figures of every type and mode up once: shapes[type][mode].
func shapesOf(types []cluster.TaskType, class string, mix Mix) ([][]cluster.Shape, error) {
	modes, err := modesOf(types, mix)
	if err != nil {
		return nil, err
	}
	shapes := make([][]cluster.Shape, len(modes))
	for i := range modes {
		for _, mode := range modes[i] {
			shape, ok := shapeOn(mode, class)
			if !ok {
				return nil, fmt.Errorf("task type %q, mode %q has no figures for node class %q", FunctionBenchTypes[i], mode.Name, class)
			}
			shapes[i] = append(shapes[i], shape)
		}
	}
	return shapes, nil
}

// modesOf finds every type and mode: modes[type][mode].
func modesOf(types []cluster.TaskType, mix Mix) ([][]*cluster.Mode, error) {
	if len(mix) == 0 {
		return nil, fmt.Errorf("the mix has no modes")
	}
	byName := map[string]*cluster.TaskType{}
	for i := range types {
		byName[types[i].Name] = &types[i]
	}
	modes := make([][]*cluster.Mode, len(FunctionBenchTypes))
	for i, name := range FunctionBenchTypes {
		t := byName[name]
		if t == nil {
			return nil, fmt.Errorf("task type %q is not configured: a FunctionBench trace needs its profile", name)
		}
		for _, m := range mix {
			if !(m.Weight > 0) || math.IsInf(m.Weight, 0) {
				return nil, fmt.Errorf("mode %q has weight %g: it must be a positive number", m.Mode, m.Weight)
			}
			mode, ok := t.Mode(m.Mode)
			if !ok {
				return nil, fmt.Errorf("task type %q has no mode %q", name, m.Mode)
			}
			modes[i] = append(modes[i], mode)
		}
	}
	return modes, nil
}

// shapeOn returns a mode's figures for a class: its own, or those for all classes.
func shapeOn(m *cluster.Mode, class string) (cluster.Shape, bool) {
	shape, ok := m.PerClass[class]
	if !ok && m.Default != nil {
		return *m.Default, true
	}
	return shape, ok
}

// draw returns the index of a mode, with probability proportional to its weight.
func (m Mix) draw(rng *rand.Rand) int {
	return pick(rng, len(m), func(i int) float64 { return m[i].Weight })
}

// pick draws an index below n with probability proportional to weight(i).
func pick(rng *rand.Rand, n int, weight func(int) float64) int {
	total := 0.0
	for i := range n {
		total += weight(i)
	}
	x := rng.Float64() * total
	for i := range n - 1 {
		if x -= weight(i); x < 0 {
			return i
		}
	}
	return n - 1
}

// unitClock makes the start times of a synthetic trace: Poisson arrivals in whole milliseconds, as
// other readers of the format expect. The sum is rounded, not the gaps, so the rate holds.
type unitClock struct {
	rng  *rand.Rand
	unit float64
}

func (c *unitClock) next() time.Duration {
	c.unit += c.rng.ExpFloat64()
	return time.Duration(math.Round(c.unit/syntheticQPS*1000)) * time.Millisecond
}
