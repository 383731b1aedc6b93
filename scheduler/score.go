package scheduler

import "dodoor/internal/cluster"

// ScoreKind selects a reading of Eq. 1. Raw megabytes would drown the cores in the paper's formula as
// printed, so both readings normalise each dimension first.
type ScoreKind uint8

const (
	// PerDimension is the mean over dimensions of r_k·L_k / C_k².
	PerDimension ScoreKind = iota
	// Norm is Eq. 1 after dividing every dimension by the cluster's largest capacity in it.
	Norm
)

func (k ScoreKind) String() string {
	if k == Norm {
		return "norm"
	}
	return "per-dimension"
}

// ParseScoreKind reads "per-dimension" or "norm".
func ParseScoreKind(s string) (ScoreKind, bool) {
	switch s {
	case "per-dimension":
		return PerDimension, true
	case "norm":
		return Norm, true
	}
	return 0, false
}

// resourceLoad is rl of Eq. 1: how much the demand r of a task meets the load L that node i carries,
// relative to the node's capacity. The mean and the sum over dimensions rank alike; the mean is kept
// so that figures are comparable between clusters with different K.
func (v *View) resourceLoad(i int, r *cluster.Resources, kind ScoreKind) float64 {
	n := &v.nodes[i]
	load := &n.Load.Demand
	sum := 0.0
	if kind == PerDimension {
		for k := 0; k < v.dims; k++ {
			sum += float64(r[k]) * float64(load[k]) * n.inverseSquare[k]
		}
		return sum / float64(v.dims)
	}
	for k := 0; k < v.dims; k++ {
		sum += float64(r[k]) * float64(load[k]) * v.inverseLargestSquare[k]
	}
	return sum * n.inverseNormSquare
}

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
