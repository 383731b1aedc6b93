package campaign

import (
	"fmt"
	"math"

	"dodoor/report"
)

// agrees compares a change with a published one: in direction first, then in size. A published change of a
// few per cent is within the noise of a testbed, so "yes" reaches from half to twice of it.
func agrees(published float64, ours report.Change) string {
	switch {
	case math.IsNaN(ours.Mean) || ours.Mean*published <= 0 || ours.Pairs > 1 && !ours.Significant():
		return "**no**"
	case math.Abs(ours.Mean) < math.Abs(published)/2:
		return "direction, smaller"
	case math.Abs(ours.Mean) > 2*math.Abs(published):
		return "direction, larger"
	}
	return "yes"
}

// versus judges a change of one figure between two settings.
func versus(c, against Cell, m Metric, published float64) func(*Results) (string, string) {
	return func(r *Results) (string, string) {
		ours := r.change(c, against, m)
		return changed(ours) + " %", agrees(published, ours)
	}
}

// pair is a setting with its baseline.
type pair struct{ c, against Cell }

// extreme judges what the paper calls "up to": the largest change in the published direction.
func extreme(pairs []pair, m Metric, published float64) func(*Results) (string, string) {
	return func(r *Results) (string, string) {
		best, at := report.Change{Mean: math.NaN()}, 0.0
		for _, p := range pairs {
			c := r.change(p.c, p.against, m)
			if math.IsNaN(best.Mean) || c.Mean*published > best.Mean*published {
				best, at = c, p.c.QPS
			}
		}
		return fmt.Sprintf("%s %% at QPS %g", changed(best), at), agrees(published, best)
	}
}

// best returns the index of the least of some figures.
func best(values []float64) int {
	at := 0
	for i, v := range values {
		if v < values[at] {
			at = i
		}
	}
	return at
}

// worst returns the index of the greatest of some figures.
func worst(values []float64) int {
	at := 0
	for i, v := range values {
		if v > values[at] {
			at = i
		}
	}
	return at
}

// means of a figure over settings.
func (r *Results) means(cells []Cell, m Metric) []float64 {
	var values []float64
	for _, c := range cells {
		values = append(values, r.mean(c, m))
	}
	return values
}
