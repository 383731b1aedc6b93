package worker

import (
	"fmt"
	"slices"

	"dodoor/internal/cluster"
)

// oracle is the dumb node: slices, linear searches, and every figure recomputed from the history.
type oracle struct {
	cfg       Config
	procs     []*proc // scheduler processes, in the order in which they attached
	execs     []*exec // ever
	queue     []*exec
	running   []*exec
	draining  bool
	delivered map[receipt]int // acknowledged completions
	accepted  map[receipt]bool
	known     map[string]bool     // programs that somebody brought along
	got       map[string][]string // GPUs that the node gave, by task; which ones is its own affair
	wrong     error
}

// receipt names one placement.
type receipt struct {
	p      *proc
	number int64
}

type proc struct {
	client
	replaced bool
	history  []cluster.Shape // of placement i+1, whether it arrived or not
	received int64           // newest number
	sent     []*cluster.Enqueue
	waiting  []waitingEnd // completions that it has not acknowledged
}

type exec struct {
	id      string
	shape   cluster.Shape
	attempt int             // of a command
	outcome cluster.Outcome // while active: none
	owners  []receipt
	gpus    []string // that it got
}

type waitingEnd struct {
	x      *exec
	number int64
}

// holder returns the execution that the node holds under an id: the newest, while it is active or somebody
// waits for its end. One that was given up does not come back when a later one is over.
func (o *oracle) holder(id string) *exec {
	for _, x := range slices.Backward(o.execs) {
		if x.id == id {
			if x.outcome == cluster.NoOutcome || o.awaited(x) {
				return x
			}
			return nil
		}
	}
	return nil
}

func (o *oracle) awaited(x *exec) bool {
	for _, p := range o.procs {
		for _, w := range p.waiting {
			if w.x == x {
				return true
			}
		}
	}
	return false
}

// enqueue returns the numbers that the node has to refuse and the tasks that it has to start.
func (o *oracle) enqueue(p *proc, m *cluster.Enqueue) (refused []int64, starts []string) {
	for _, a := range m.Assignments {
		x, r := o.holder(a.TaskID), receipt{p, a.Number}
		switch {
		case a.Number <= p.received:
			if x == nil || !slices.Contains(x.owners, r) {
				refused = append(refused, a.Number)
			}
			continue
		case x != nil && x.outcome != cluster.Lost && !x.triedAgain(&a):
			x.owners = slices.DeleteFunc(x.owners, func(have receipt) bool {
				if have.p == p && x.outcome == cluster.NoOutcome {
					delete(o.accepted, have) // superseded: its completion comes under the newer number
				}
				return have.p == p
			})
			x.owners = append(x.owners, r)
			if x.outcome != cluster.NoOutcome {
				p.waiting = append(p.waiting, waitingEnd{x, a.Number})
			}
		case o.draining || !o.mayRun(&a) || !o.everFits(&a.Shape.Demand):
			refused = append(refused, a.Number)
			continue
		default:
			x = &exec{id: a.TaskID, shape: a.Shape, attempt: a.Attempt, owners: []receipt{r}}
			o.execs, o.queue = append(o.execs, x), append(o.queue, x)
			starts = append(starts, o.admit()...)
		}
		o.accepted[r] = true
	}
	p.received = max(p.received, m.Number)
	return refused, starts
}

// triedAgain reports whether an assignment is a later try of a command that ended otherwise than well.
func (x *exec) triedAgain(a *cluster.Assignment) bool {
	return a.Command != nil && a.Attempt > x.attempt && x.outcome != cluster.NoOutcome && x.outcome != cluster.Finished
}

// mayRun reports whether the node knows what a task runs, and runs that.
func (o *oracle) mayRun(a *cluster.Assignment) bool {
	program := programs[a.TaskID]
	if a.Command == nil {
		return true
	}
	o.known[program] = o.known[program] || a.Command.Template != nil
	if !o.known[program] {
		delete(o.known, program)
	}
	return o.known[program] && program != "bad"
}

// admit is the rule of Sec. 4.2.
func (o *oracle) admit() (starts []string) {
	for len(o.queue) > 0 && len(o.running) < o.cfg.Node.Slots {
		sum := o.reserved().Add(o.queue[0].shape.Demand)
		if !sum.FitsIn(&o.cfg.Node.Capacity) || !o.gpusFor(o.queue[0]) {
			break
		}
		starts = append(starts, o.queue[0].id)
		o.give(o.queue[0])
		o.running, o.queue = append(o.running, o.queue[0]), o.queue[1:]
	}
	return starts
}

func (o *oracle) reserved() (sum cluster.Resources) {
	for _, x := range o.running {
		sum = sum.Add(x.shape.Demand)
	}
	return sum
}

func (o *oracle) load() (sum cluster.Load) {
	for _, x := range slices.Concat(o.queue, o.running) {
		sum = sum.Add(cluster.LoadOf(x.shape))
	}
	return sum
}

// end brings an active execution to its end and returns what starts then.
func (o *oracle) end(x *exec, outcome cluster.Outcome) []string {
	isX := func(y *exec) bool { return x == y }
	o.queue = slices.DeleteFunc(slices.Clone(o.queue), isX)
	o.running = slices.DeleteFunc(slices.Clone(o.running), isX)
	x.outcome = outcome
	for _, r := range x.owners {
		r.p.waiting = append(r.p.waiting, waitingEnd{x, r.number})
	}
	return o.admit()
}

// claims tells whether processes of a name wait for an execution, and whether others do that were not replaced.
func (x *exec) claims(name string) (own, others bool) {
	for _, r := range x.owners {
		own = own || r.p.ref.Name == name
		others = others || r.p.ref.Name != name && !r.p.replaced
	}
	return own, others
}

// withdraw ends the placements of a name, and nothing else of an execution.
func (o *oracle) withdraw(x *exec, name string) {
	for _, r := range x.owners {
		if r.p.ref.Name == name {
			r.p.waiting = append(r.p.waiting, waitingEnd{&exec{id: x.id, outcome: cluster.Cancelled}, r.number})
		}
	}
	x.owners = slices.DeleteFunc(x.owners, func(r receipt) bool { return r.p.ref.Name == name })
}

// acknowledge takes the oldest k completions off p's list.
func (o *oracle) acknowledge(p *proc, k int) {
	for _, w := range p.waiting[:k] {
		r := receipt{p, w.number}
		o.delivered[r]++
		w.x.owners = slices.DeleteFunc(w.x.owners, func(have receipt) bool { return have == r })
	}
	p.waiting = slices.Clone(p.waiting[k:])
}

// cumulative is P at a number, from the history.
func (p *proc) cumulative(number int64) (sum cluster.Load) {
	for _, s := range p.history[:number] {
		sum = sum.Add(cluster.LoadOf(s))
	}
	return sum
}

// agrees compares everything that the node says about itself with the oracle.
func (o *oracle) agrees(n *Node) error {
	r := n.Report(0)
	switch reserved := o.reserved(); {
	case o.wrong != nil:
		return o.wrong
	case r.Load != o.load():
		return fmt.Errorf("load %+v, want %+v", r.Load, o.load())
	case r.RunningDemand != reserved || !reserved.FitsIn(&o.cfg.Node.Capacity):
		return fmt.Errorf("reserved %v, want %v within %v", r.RunningDemand, reserved, o.cfg.Node.Capacity)
	case r.Running != len(o.running) || r.Queued != len(o.queue) || r.Running > o.cfg.Node.Slots:
		return fmt.Errorf("%d running and %d queued, want %d and %d", r.Running, r.Queued, len(o.running), len(o.queue))
	}
	seen := 0
	for _, p := range o.procs {
		if p.replaced {
			continue
		}
		seen++
		i := slices.IndexFunc(r.Received, func(v cluster.Received) bool { return v.Scheduler == p.ref.Name })
		want := cluster.Received{Scheduler: p.ref.Name, Incarnation: p.ref.Incarnation, Number: p.received, Received: p.cumulative(p.received)}
		if i < 0 || r.Received[i] != want {
			return fmt.Errorf("received %+v, want %+v", r.Received, want)
		}
	}
	if seen != len(r.Received) {
		return fmt.Errorf("%d streams in the report, want %d", len(r.Received), seen)
	}
	return nil
}
