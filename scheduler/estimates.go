package scheduler

import (
	"slices"

	"dodoor/internal/cluster"
)

// Estimates says where a replica takes the duration from that it expects of a task.
type Estimates uint8

const (
	// Given durations are those of submissions and profiles, as in the paper.
	Given Estimates = iota
	// Learned durations are those of what ran before, where the submission does not say. A profile holds until
	// experience disagrees with it for long.
	Learned
	// Cold is Learned without a look at what submissions and profiles say, for studies.
	Cold
	// Exact durations are those that emulated tasks will really take.
	Exact
)

var estimatesWords = [...]string{Given: "given", Learned: "learned", Cold: "cold", Exact: "exact"}

func (e Estimates) String() string { return estimatesWords[e] }

// EstimatesWords lists what [ParseEstimates] reads.
func EstimatesWords() []string { return estimatesWords[:] }

// ParseEstimates reads one of [EstimatesWords].
func ParseEstimates(s string) (Estimates, bool) {
	i := slices.Index(estimatesWords[:], s)
	return Estimates(max(i, 0)), i >= 0
}

// learned reports whether experience counts.
func (e Estimates) learned() bool { return e == Learned || e == Cold }

// resolve fills in what a task needs, and says where the duration comes from that is expected of it.
func (r *Replica) resolve(s *cluster.TaskSpec, k *cluster.Kind) *cluster.Refusal {
	if refusal := r.catalog.Resolve(s, k); refusal != nil {
		return refusal
	}
	switch r.cfg.Estimates {
	case Given:
	case Exact:
		k.Learned = &cluster.Learned{Factor: r.cfg.Foresee(cluster.HashID(s.ID))}
	default:
		k.Learned = &cluster.Learned{Otherwise: r.cfg.DefaultDuration.Milliseconds(), Overrides: r.cfg.Estimates == Cold}
	}
	return nil
}

// Estimates tells how long tasks are expected to run, by name and class in order.
func (r *Replica) Estimates(*cluster.EstimateQuery) []cluster.Estimate { return nil }
