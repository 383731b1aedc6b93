package scheduler

import (
	"slices"

	"dodoor/internal/cluster"
)

// ScoreKind selects a reading of Eq. 1. As printed, it adds squares of cores and of megabytes, so that
// memory decides alone; the other readings normalise each dimension first.
type ScoreKind uint8

const (
	// PerDimension is the mean over dimensions of r_k·L_k / C_k².
	PerDimension ScoreKind = iota
	// Norm is Eq. 1 after dividing every dimension by the cluster's largest capacity in it.
	Norm
	// Raw is Eq. 1 as printed, in cores and megabytes.
	Raw
)

var scoreKinds = [...]string{PerDimension: "per-dimension", Norm: "norm", Raw: "raw"}

func (k ScoreKind) String() string { return scoreKinds[k] }

// scoreKind reads "per-dimension", "norm" or "raw".
func scoreKind(s string) ScoreKind { return ScoreKind(slices.Index(scoreKinds[:], s)) }

// resourceLoad is rl of Eq. 1: how much the demand r of a task meets the load L that node i carries,
// relative to the node's capacity. The mean and the sum over dimensions rank alike; the mean is kept
// so that figures are comparable between clusters with different K.
func (v *View) resourceLoad(i int, r *cluster.Resources, kind ScoreKind) float64 {
	n := &v.nodes[i]
	switch kind {
	case PerDimension:
		return v.product(r, &n.Load.Demand, &n.inverseSquare) / float64(v.dims)
	case Norm:
		return v.product(r, &n.Load.Demand, &v.inverseLargestSquare) * n.inverseNormSquare
	default:
		return v.product(r, &n.Load.Demand, &unitSquare) * inverseNorm(&n.Capacity, &unitSquare)
	}
}

// product is r·L with a weight for every dimension.
func (v *View) product(r, load *cluster.Resources, weights *[cluster.MaxDimensions]float64) float64 {
	sum := 0.0
	for k := range v.dims {
		sum += float64(r[k]) * float64(load[k]) * weights[k]
	}
	return sum
}

// inverseNorm is 1/‖C‖² with a weight for every squared dimension, 0 where C = 0.
func inverseNorm(capacity *cluster.Resources, weights *[cluster.MaxDimensions]float64) float64 {
	norm := 0.0
	for k, c := range capacity {
		norm += float64(c) * float64(c) * weights[k]
	}
	if norm == 0 {
		return 0
	}
	return 1 / norm
}

// unitSquare makes squared amounts those of the units that the paper's data are in: cores, megabytes, and
// whole extra resources.
var unitSquare = func() (squares [cluster.MaxDimensions]float64) {
	for k := range squares {
		squares[k] = 1 / float64(cluster.PerUnit(k)*cluster.PerUnit(k))
	}
	return squares
}()

// share is x / (x + y), the normalisation inside Eq. 2. 0/0 counts as one half for both, never NaN.
func share(x, y float64) float64 {
	if x+y == 0 {
		return 0.5
	}
	return x / (x + y)
}

// pairScore is Eq. 2 for one of two candidates against the other: rl are the resource loads (Eq. 1), d
// the pending durations D plus the task's own estimate. The lower score wins.
func pairScore(alpha, rl, rlOther, d, dOther float64) float64 {
	return (1-alpha)*share(rl, rlOther) + alpha*share(d, dOther)
}
