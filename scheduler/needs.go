package scheduler

import (
	"math"
	"slices"

	"dodoor/internal/cluster"
)

// What a task needs, where its submitter leaves that to experience: the cores that 95 % of the latest executions of its name
// did with, and the memory that all of them did with and some more.
const (
	coresStep   = 50 // millicores: what is learned of cores is a multiple
	memoryShare = 4  // a peak and one part in so many of it is what an execution is said to need
	leastMargin = 16 // MiB
)

// needed takes what an execution did with, or what it died of having no more than: limit is its demand of memory. What was
// not measured teaches nothing.
func (x *experience) needed(n *named, class cluster.ClassID, c *cluster.Completion, limit int64) {
	var did need
	switch {
	case c.OutOfMemory:
		did.memory = 2 * limit
	case c.Outcome != cluster.Finished:
		return
	}
	if c.PeakMemory > 0 {
		did.memory = max(did.memory, c.PeakMemory+max(c.PeakMemory/memoryShare, leastMargin))
	}
	if at := c.Run - c.Startup; at > 0 && c.CPU > 0 && !c.OutOfMemory {
		millicores := float64(c.CPU) / float64(at) * float64(cluster.PerUnit(cluster.Cores))
		did.cores = int64(math.Ceil(min(millicores, float64(cluster.MaxAmount))))
	} else if c.PeakMemory > 0 && !c.OutOfMemory {
		did.cores = 1 // less than can be measured
	}
	did.memory = min(did.memory, cluster.MaxAmount)
	if did == (need{}) {
		return
	}
	s := x.write(n, class)
	s.own.did(did)
	s.Cores, s.Memory = s.own.needs95()
	x.bound()
}

// did keeps what an execution did with.
func (o *ownRuns) did(n need) {
	if len(o.needs) < keptRuns {
		o.needs = append(o.needs, n)
		return
	}
	o.needs[o.oldest] = n
	o.oldest = (o.oldest + 1) % keptRuns
}

// needs95 returns the millicores that 95 % of the executions that are kept did with, and the MiB that all of them did with.
func (o *ownRuns) needs95() (cores, memory int64) {
	var measured []int64
	for i := range o.needs {
		memory = max(memory, o.needs[i].memory)
		if o.needs[i].cores > 0 {
			measured = append(measured, o.needs[i].cores)
		}
	}
	if len(measured) == 0 {
		return 0, memory
	}
	slices.Sort(measured)
	cores = percentile95(measured)
	return min((cores+coresStep-1)/coresStep*coresStep, cluster.MaxAmount), memory
}

// percentile95 is the smallest of sorted values that 95 % of them do not exceed.
func percentile95(sorted []int64) int64 { return sorted[(len(sorted)*95+99)/100-1] }

// needs is what the tasks of a name need, wherever they run: the most that any writer saw on any class. 0: not known.
func (n *named) needs() (cores, memory int64) {
	for _, on := range n.classes {
		if on == nil {
			continue
		}
		for _, s := range on.entries {
			cores, memory = max(cores, s.Cores), max(memory, s.Memory)
		}
	}
	return cores, memory
}

// auto says which demands of a batch experience decides.
type auto struct{ cores, memory bool }

// demand replaces what experience decides of a demand, as far as it knows. No task is to need more memory than the largest
// node has.
func (r *Replica) demand(a auto, name string, demand cluster.Resources) cluster.Resources {
	n := r.experience.names[name]
	if n == nil {
		return demand
	}
	cores, memory := n.needs()
	if a.cores && cores > 0 {
		demand[cluster.Cores] = cores
	}
	if a.memory && memory > 0 {
		demand[cluster.Memory] = min(memory, r.view.largest[cluster.Memory])
	}
	return demand
}

// withNeeds returns a submission with the demand that experience decides on, and a refusal where nothing is learned.
func (r *Replica) withNeeds(s *cluster.TaskSpec, b *batch) (*cluster.TaskSpec, *cluster.Refusal) {
	if b.auto = (auto{s.LearnCores, s.LearnMemory}); b.auto == (auto{}) {
		return s, nil
	}
	if r.experience == nil {
		return nil, refuse(s.ID, cluster.InvalidTask, "scheduler %s learns nothing (scheduler.estimates is %q), so the submission must say how "+
			"many cores and how much memory the task needs", r.cfg.Name, r.cfg.Estimates)
	}
	demand := r.catalog.usual.Demand
	if s.Demand != nil {
		demand = *s.Demand
	}
	if s.LearnCores { // before anything is known: a core, and memory without a limit
		demand[cluster.Cores] = r.catalog.usual.Demand[cluster.Cores]
	}
	if s.LearnMemory {
		demand[cluster.Memory] = 0
	}
	demand = r.demand(b.auto, b.named.name, demand)
	own := *s
	own.Demand = &demand
	return &own, nil
}

// relearn gives a task that runs again the demand that experience decides on by now.
func (r *Replica) relearn(t *task) {
	b := t.batch
	if b.auto == (auto{}) {
		return
	}
	grown := *b
	grown.orphan = nil
	if grown.Uniform.Demand = r.demand(b.auto, b.named.name, b.Uniform.Demand); grown.Uniform == b.Uniform {
		return
	}
	t.batch = alike(r.latestOf(b.job), &grown)
	t.spec.Kind = &t.batch.Kind
}
