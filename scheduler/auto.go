package scheduler

import "dodoor/internal/cluster"

// auto says which demands of a batch experience decides.
type auto struct{ cores, memory bool }

// of returns the parts of a demand that experience decides, from another one.
func (a auto) of(demand, from cluster.Resources) cluster.Resources {
	if a.cores {
		demand[cluster.Cores] = from[cluster.Cores]
	}
	if a.memory {
		demand[cluster.Memory] = from[cluster.Memory]
	}
	return demand
}

// learn replaces what experience decides of a batch's demand, as far as it knows, and no further than some node can run it.
func (r *Replica) learn(b *batch) {
	cores, memory := b.named.needs()
	if b.auto.cores && cores > 0 {
		b.Uniform.Demand[cluster.Cores] = cores
	}
	if b.auto.memory && memory > 0 {
		b.Uniform.Demand[cluster.Memory] = memory
	}
	b.Uniform.Demand = r.within(b)
}

// within returns a batch's demand, less what no node has of what experience decides: as on the node that leaves it the most memory,
// and then the most cores. Where no node can run it anyway nothing changes.
func (r *Replica) within(b *batch) cluster.Resources {
	demand, best, found := b.Uniform.Demand, cluster.Resources{}, false
	for _, i := range r.view.candidates {
		n := &r.view.nodes[i]
		if own, ok := b.DemandOn(n.Class); !ok || own != &b.Uniform.Demand || b.bar != nil && b.bar.nodes.Has(int(i)) {
			continue
		}
		fits := demand
		fits[cluster.Cores] = min(fits[cluster.Cores], n.Capacity[cluster.Cores])
		fits[cluster.Memory] = min(fits[cluster.Memory], n.Capacity[cluster.Memory])
		fits = b.auto.of(demand, fits)
		switch {
		case !fits.FitsEmpty(&n.Capacity):
		case fits == demand:
			return demand
		case !found || fits[cluster.Memory] > best[cluster.Memory] ||
			fits[cluster.Memory] == best[cluster.Memory] && fits[cluster.Cores] > best[cluster.Cores]:
			best, found = fits, true
		}
	}
	if found {
		return best
	}
	return demand
}

// resolveNeeds resolves a submission some of whose demand experience decides. Before anything is known, that part is as if the
// submission had not mentioned it: the profile's, or else a core, and memory without a limit.
func (r *Replica) resolveNeeds(s *cluster.TaskSpec, b *batch) *cluster.Refusal {
	a := auto{s.LearnCores, s.LearnMemory}
	if a == (auto{}) {
		return r.catalog.Resolve(s, &b.Kind)
	}
	if r.experience == nil {
		return refuse(s.ID, cluster.InvalidTask, "scheduler %s learns nothing (scheduler.estimates is %q), so the submission must say how "+
			"many cores and how much memory the task needs", r.cfg.Name, r.cfg.Estimates)
	}
	own := *s
	own.Demand = r.catalog.startOf(s, a)
	if refusal := r.catalog.Resolve(&own, &b.Kind); refusal != nil {
		return refusal
	}
	b.auto = a
	r.learn(b)
	return nil
}

// startOf returns the demand to resolve where experience decides some of it; nil: the profile's.
func (c *Catalog) startOf(s *cluster.TaskSpec, a auto) *cluster.Resources {
	usual, mode := c.usual.Demand, c.mode(s)
	if mode != nil && mode.fallback != nil {
		usual = mode.fallback.Demand
	}
	if s.Demand != nil {
		if brings := a.of(*s.Demand, cluster.Resources{}); brings != (cluster.Resources{}) {
			brings = a.of(brings, usual)
			return &brings
		}
	}
	if mode != nil {
		return nil
	}
	return &usual
}

// relearn gives a task that runs again the demand that experience decides on by now.
func (r *Replica) relearn(t *task) {
	b := t.batch
	if b.auto == (auto{}) {
		return
	}
	grown := *b
	grown.orphan = nil
	if r.learn(&grown); grown.Uniform == b.Uniform {
		return
	}
	t.batch = alike(r.latestOf(b.job), &grown)
	t.spec.Kind = &t.batch.Kind
}
