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
func (r *Replica) resolve(s *cluster.TaskSpec, b *batch) *cluster.Refusal {
	x := r.experience
	switch {
	case x == nil:
	case s.Command == nil:
		x.key = typeKey(x.key, s.Type, cluster.CanonicalMode(s.Mode))
		b.named = x.find()
	default:
		x.key = commandKey(x.key, b.job, b.template)
		b.named = x.find()
	}
	if refusal := r.resolveNeeds(s, b); refusal != nil {
		x.drop(b.named)
		return refusal
	}
	if x != nil {
		if s.Command == nil {
			x.profiled(b.named, &b.Kind)
		}
		x.use(b.named)
		b.Learned = &b.named.learned
	} else if r.cfg.Estimates == Exact {
		b.Learned = &cluster.Learned{Factor: r.cfg.Foresee(cluster.HashID(s.ID))}
	}
	return nil
}

// learnFrom takes the end of an execution where its task was placed, as the worker tells.
func (r *Replica) learnFrom(t *task, c *cluster.Completion, on placedOn, latest bool) {
	n := t.batch.named
	if n == nil {
		return
	}
	class := r.workers.class(on.worker)
	if c.Outcome == cluster.Finished {
		expected := int64(0)
		if latest {
			expected = int64(t.spec.Reckon)
		}
		r.experience.ran(n, class, tookOf(c.Run, t.spec.TimeScale), expected, r.view.Decisions+r.decisions-r.applied)
	}
	r.experience.needed(n, class, c, on.limit)
	r.flushing = r.flushing || r.experience.waits()
}

// Estimates tells how long tasks are expected to run, by name and class in order.
func (r *Replica) Estimates(q *cluster.EstimateQuery) []cluster.Estimate {
	if r.experience == nil {
		return nil
	}
	return r.experience.tell(q)
}
