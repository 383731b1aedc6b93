package campaign

import (
	"fmt"
	"math"

	"dodoor/report/stats"
)

// Claim is something that the paper says, with what came out here.
type Claim struct {
	Claim     string
	Published string
	Judge     func(r *Results) Judgement
}

// Judgement compares what is published with what came out, in direction first and then in size.
type Judgement struct {
	Ours      string
	Direction Direction
	Size      Size
	Larger    Larger
}

// Direction is that of a change, or of a trend.
type Direction string

// Size says whether ours is within the published range, or near the published figure.
type Size string

// Larger says whose change is the larger one.
type Larger string

const (
	sameWay     Direction = "same"
	noWay       Direction = "**none**" // the interval holds zero
	otherWay    Direction = "**opposite**"
	alike       Size      = "yes"
	unlike      Size      = "no"
	noSize      Size      = "–" // the claim has none
	largerHere  Larger    = "ours"
	largerThere Larger    = "the paper's"
	neither     Larger    = "–"
)

// tolerance is how far from a published change one may be that counts as its size: testbeds differ by more than a
// few per cent.
const tolerance = 0.25

// gain is a published improvement of unknown size.
const gain = "a gain"

// judge compares a change with a published range from least to most, which may be one figure. What counts is
// the end that the change is compared with.
func judge(ours stats.Change, end, least, most float64) Judgement {
	j := Judgement{Ours: changed(ours) + " %", Direction: direction(ours, end), Size: unlike, Larger: neither}
	if j.Direction != sameWay {
		return j
	}
	size, low, high := math.Abs(ours.Mean), math.Abs(least), math.Abs(most)
	if size >= low && size <= high || math.Abs(size/math.Abs(end)-1) <= tolerance {
		j.Size = alike
	}
	j.Larger = larger(size, math.Abs(end))
	return j
}

// direction is that of a change against the published one.
func direction(ours stats.Change, published float64) Direction {
	switch {
	case math.IsNaN(ours.Mean) || ours.Mean == 0 || ours.Pairs > 1 && !ours.Significant():
		return noWay
	case ours.Mean*published < 0:
		return otherWay
	}
	return sameWay
}

func larger(our, their float64) Larger {
	if our > their {
		return largerHere
	}
	return largerThere
}

// pair is a setting with its baseline.
type pair struct{ c, against Cell }

// versus judges a change of one figure between two settings.
func versus(p pair, m Metric, published float64) func(*Results) Judgement {
	return func(r *Results) Judgement { return judge(r.change(p.c, p.against, m), published, published, published) }
}

// better judges a published gain without a size, by its sign.
func better(p pair, m Metric) func(*Results) Judgement {
	return func(r *Results) Judgement {
		c := r.change(p.c, p.against, m)
		return Judgement{changed(c) + " %", direction(c, float64(m.Better)), noSize, neither}
	}
}

// atBest judges what the paper calls "up to": the largest change in the published direction.
func atBest(pairs []pair, m Metric, published float64) func(*Results) Judgement {
	return func(r *Results) Judgement { return r.extreme(pairs, m, published, published, published) }
}

// most and least judge the ends of a published range over all loads.
func most(pairs []pair, m Metric, low, high float64) func(*Results) Judgement {
	return func(r *Results) Judgement { return r.extreme(pairs, m, high, low, high) }
}

func least(pairs []pair, m Metric, low, high float64) func(*Results) Judgement {
	return func(r *Results) Judgement { return r.extreme(pairs, m, low, low, high) }
}

// extreme judges the largest change in the published direction, or the smallest where the published end is
// the smaller one of its range.
func (r *Results) extreme(pairs []pair, m Metric, end, low, high float64) Judgement {
	smallest := end == low && low != high
	found, at := stats.Change{Mean: math.NaN()}, 0.0
	for _, p := range pairs {
		c := r.change(p.c, p.against, m)
		if math.IsNaN(found.Mean) || (c.Mean*end > found.Mean*end) != smallest {
			found, at = c, p.c.QPS
		}
	}
	j := judge(found, end, low, high)
	j.Ours += fmt.Sprintf(" at QPS %g", at)
	return j
}

// counted judges a count that no noise touches, as a change against a baseline: within a hundredth.
func counted(p pair, m Metric, published float64) func(*Results) Judgement {
	return func(r *Results) Judgement {
		c := r.change(p.c, p.against, m)
		j := Judgement{percent(c.Mean) + " %", direction(c, published), unlike, larger(-c.Mean, -published)}
		if math.Abs(c.Mean-published) < 0.01 {
			j.Size, j.Larger = alike, neither
		}
		return j
	}
}

// holds judges a statement that is true or not.
func holds(ours string, holds bool) Judgement {
	if holds {
		return Judgement{ours, sameWay, noSize, neither}
	}
	return Judgement{ours, otherWay, noSize, neither}
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
