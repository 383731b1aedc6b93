package figure

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// names labels the positions 0, 1, 2, ...
type names []string

// Ticks implements plot.Ticker.
func (n names) Ticks(_, _ float64) []plot.Tick {
	ticks := make([]plot.Tick, len(n))
	for i, name := range n {
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
	}
	return ticks
}

// numbers are ticks at given values. Of labels that would run into each other only the first stays.
type numbers []float64

// Ticks implements plot.Ticker.
func (n numbers) Ticks(low, high float64) []plot.Tick {
	const apart = 0.07 // of the axis: room for three digits
	var ticks []plot.Tick
	last := math.Inf(-1)
	for _, v := range n {
		t := plot.Tick{Value: v}
		if v-last >= apart*(high-low) {
			t.Label, last = strconv.FormatFloat(v, 'g', 4, 64), v
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// round are ticks at round values, so many at most, all with labels.
type round int

// Ticks implements plot.Ticker.
func (most round) Ticks(low, high float64) []plot.Tick {
	decade := math.Pow(10, math.Floor(math.Log10((high-low)/float64(most))))
	step := decade
	for _, f := range []float64{1, 2, 2.5, 5, 10, 20} {
		step = decade * f
		if math.Floor(high/step)-math.Ceil(low/step) < float64(most) {
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high*(1+1e-9); i++ {
		// + 0 turns the minus zero that Ceil can give into zero.
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'g', 4, 64)})
	}
	return ticks
}

// unlabelled drops the labels: the panel at the bottom has them.
type unlabelled struct{ plot.Ticker }

// Ticks implements plot.Ticker.
func (u unlabelled) Ticks(low, high float64) []plot.Tick {
	ticks := u.Ticker.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = " "
		}
	}
	return ticks
}

// decades are the ticks of a logarithmic axis, which runs over the exponents of 10. Within less than
// two decades 2 and 5 have labels too.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(low); e <= math.Ceil(high); e++ {
		for m := 1.0; m < 10; m++ {
			t := plot.Tick{Value: e + math.Log10(m)}
			if t.Value < low-1e-9 || t.Value > high+1e-9 {
				continue
			}
			if m == 1 || high-low < 2 && (m == 2 || m == 5) {
				t.Label = strconv.FormatFloat(m*math.Pow(10, e), 'g', 6, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
