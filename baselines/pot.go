package baselines

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// pot is the power of two choices with live probes (paper, Sec. 6.1): two distinct feasible nodes are
// asked at the same time, and once both have answered or failed the one with fewer uncompleted tasks
// gets the task. Decisions wait side by side, each for its own two answers, so none holds up another.
type pot struct {
	placing
	calls  [2]scheduler.ProbeCall
	rounds map[*cluster.Task]round
}

// round is a decision that waits for its probes.
type round struct {
	asked [2]contender // in the order in which they were drawn
	open  int          // answers still to come
}

// contender is a node that was probed for a task.
type contender struct {
	node     int
	name     string
	answered bool
	tasks    int64 // N, as the node says
}

var _ = register(scheduler.Spec{
	Name:   "pot",
	New:    func(scheduler.Knobs) scheduler.Policy { return &pot{rounds: map[*cluster.Task]round{}} },
	Manual: scheduler.ManualRow{Compares: "2, asked before every decision", By: "number of tasks", Messages: "3"},
})

// Submit asks for both probes; a task that only one node can run goes there unasked.
func (p *pot) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	draws := v.Draws(t)
	first, ok := v.Draw(t, draws, scheduler.NoNode)
	if !ok {
		return scheduler.Decision{}
	}
	second, ok := v.Draw(t, draws, first)
	if !ok {
		return p.on(t, first)
	}
	r := round{open: 2}
	for i, node := range [2]int{first, second} {
		r.asked[i] = contender{node: node, name: v.Node(node).Name}
		p.calls[i] = scheduler.ProbeCall{Task: t, Node: node}
	}
	p.rounds[t] = r
	return scheduler.Decision{Probe: p.calls[:]}
}

// Probed decides when the second answer, or failure, is in.
func (p *pot) Probed(_ time.Duration, answer scheduler.Probe, v *scheduler.View) scheduler.Decision {
	r, ok := p.rounds[answer.Task]
	if !ok {
		return scheduler.Decision{}
	}
	for i := range r.asked {
		if c := &r.asked[i]; c.node == answer.Node {
			c.answered, c.tasks = !answer.Failed, answer.Answer.Tasks
		}
	}
	if r.open--; r.open > 0 {
		p.rounds[answer.Task] = r
		return scheduler.Decision{}
	}
	delete(p.rounds, answer.Task)
	return p.on(answer.Task, r.decide(answer.Task, v))
}

func (p *pot) Wants() scheduler.Wants { return scheduler.Wants{} }

// decide compares the answers; of the two nodes, one that failed or left is out.
func (r *round) decide(t *cluster.Task, v *scheduler.View) int {
	first, second := &r.asked[0], &r.asked[1]
	switch one, two := first.usable(v), second.usable(v); {
	case one && two && second.tasks < first.tasks:
		return second.node
	case one:
		return first.node
	case two:
		return second.node
	}
	return r.fallBack(t, v)
}

func (c *contender) usable(v *scheduler.View) bool { return c.answered && remains(v, c.node, c.name) }

// fallBack draws a random feasible node with the third draw of the task's generator: the first two
// chose the nodes that failed. If no node is left that could run the task, the first one asked is
// named; the replica finds it gone and keeps the task until a node appears.
func (r *round) fallBack(t *cluster.Task, v *scheduler.View) int {
	draws := v.Draws(t)
	first, _ := v.Draw(t, draws, scheduler.NoNode)
	v.Draw(t, draws, first)
	if node, ok := v.Draw(t, draws, scheduler.NoNode); ok {
		return node
	}
	return r.asked[0].node
}
