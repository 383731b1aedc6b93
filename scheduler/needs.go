package scheduler

import (
	"math"
	"slices"

	"dodoor/internal/cluster"
)

// What a task needs, where its submitter leaves that to experience: the cores that 95 % of the latest executions of its name
// did with, the memory that all of them did with, and some more of both. Where there are control groups nothing takes more cores
// than it demands: what takes almost all of those is said to need twice as many, so that the figure can rise.
const (
	coresStep   = 50   // millicores: what is learned of cores is a multiple
	coresShare  = 8    // what is used and one part in so many of it is what an execution is said to need: less than almost all
	almostAll   = 0.9  // of the cores that an execution may use
	memoryShare = 4    // likewise of a peak
	leastMargin = 16   // MiB
	tooLittle   = 2    // so many times what an execution had that took almost all of it, or died of having no more, is what it needs
	floorHolds  = 1024 // executions that the memory holds for that one was said to need as it died; then half of it, and so on
)

// need is what one execution did with, or had; 0: that was not measured, or there was no limit.
type need struct {
	cores  int64 // millicores
	memory int64 // MiB
}

// ownNeeds are what the latest own executions of a name did with, wherever they ran.
type ownNeeds struct {
	latest []need // a ring, once it is full
	oldest int
	floor  int64 // MiB that an execution was said to need as it died; what is rare would soon leave the ring
	calm   int64 // executions since then, or since it was halved
	all    need  // what follows for the name
}

// said is what one writer says of the needs of a name: every entry of it does, and the newest counts.
type said struct {
	scheduler           string
	incarnation, number int64
	need
}

// needed takes what an execution did with, or what it died of having no more than; limit is what it had. What was not measured
// teaches nothing.
func (x *experience) needed(n *named, class cluster.ClassID, c *cluster.Completion, limit need) {
	if !c.OutOfMemory && c.Outcome != cluster.Finished {
		return
	}
	var did need
	if c.PeakMemory > 0 {
		did.memory = min(c.PeakMemory+max(c.PeakMemory/memoryShare, leastMargin), cluster.MaxAmount)
	}
	if c.OutOfMemory {
		did.memory = min(max(did.memory, tooLittle*limit.memory), cluster.MaxAmount)
	} else {
		did.cores = coresOf(c, limit.cores)
	}
	if did == (need{}) {
		return
	}
	own := x.ownNeeds(n)
	if c.OutOfMemory {
		own.died(did.memory)
	} else {
		own.did(did)
	}
	own.all = own.needs95()
	x.write(n, class)
	x.bound()
}

// coresOf is how many millicores an execution is said to need that might use so many; 0: it was not measured.
func coresOf(c *cluster.Completion, limit int64) int64 {
	at := c.Run - c.Startup
	if at <= 0 || c.CPU <= 0 {
		return min(c.PeakMemory, 1) // it was measured, and took less than that can tell
	}
	used := float64(c.CPU) / float64(at) * float64(cluster.PerUnit(cluster.Cores))
	cores := used + used/coresShare
	if limit > 0 && used >= almostAll*float64(limit) {
		cores = max(cores, tooLittle*float64(limit))
	}
	return int64(math.Ceil(min(cores, float64(cluster.MaxAmount))))
}

// ownNeeds returns what the own executions of a name did with. The first ones go on from what an earlier process of this
// scheduler said, which the entries of this one replace.
func (x *experience) ownNeeds(n *named) *ownNeeds {
	if n.own == nil {
		n.own = &ownNeeds{}
		if at := n.sayer(x.writer); at >= 0 {
			before := n.said[at].need
			n.own.latest, n.own.floor = []need{before}, before.memory
			n.own.all = n.own.needs95()
		}
	}
	return n.own
}

// did keeps what an execution did with.
func (o *ownNeeds) did(n need) {
	if o.calm++; o.calm == floorHolds {
		o.floor, o.calm = o.floor/2, 0
	}
	if len(o.latest) < keptRuns {
		o.latest = append(o.latest, n)
		return
	}
	o.latest[o.oldest] = n
	o.oldest = (o.oldest + 1) % keptRuns
}

// died keeps the memory without which executions die.
func (o *ownNeeds) died(memory int64) {
	o.floor, o.calm = max(o.floor, memory), 0
}

// needs95 returns the millicores that 95 % of the executions that are kept did with, and the MiB that all of them did with and
// none is known to die of.
func (o *ownNeeds) needs95() need {
	all := need{memory: o.floor}
	var measured []int64
	for i := range o.latest {
		all.memory = max(all.memory, o.latest[i].memory)
		if o.latest[i].cores > 0 {
			measured = append(measured, o.latest[i].cores)
		}
	}
	if len(measured) > 0 {
		slices.Sort(measured)
		all.cores = min((percentile95(measured)+coresStep-1)/coresStep*coresStep, cluster.MaxAmount)
	}
	return all
}

// percentile95 is the smallest of sorted values that 95 % of them do not exceed.
func percentile95(sorted []int64) int64 { return sorted[(len(sorted)*95+99)/100-1] }

// sayer returns the index of what a scheduler says of the needs of a name, or -1.
func (n *named) sayer(scheduler string) int {
	return slices.IndexFunc(n.said, func(s said) bool { return s.scheduler == scheduler })
}

// hear takes what an entry says of the needs of its name, if nothing newer of its writer is known.
func (n *named) hear(e *cluster.Experience) {
	fresh := said{e.Scheduler, e.Incarnation, e.Number, need{e.Cores, e.Memory}}
	at := n.sayer(e.Scheduler)
	if at < 0 {
		n.said = append(n.said, fresh)
		return
	}
	if s := &n.said[at]; s.incarnation < e.Incarnation || s.incarnation == e.Incarnation && s.number < e.Number {
		*s = fresh
	}
}

// needs is what the tasks of a name need, wherever they run: the most that any writer says. 0: not known.
func (n *named) needs() (cores, memory int64) {
	for i := range n.said {
		cores, memory = max(cores, n.said[i].cores), max(memory, n.said[i].memory)
	}
	return cores, memory
}
