package worker

import (
	"fmt"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// Enqueue takes placements from an attached scheduler. The node answers for each of them: it holds
// the task (also when it did before: repeating a message is harmless), or refuses it with the reason.
// Either way the placement counts as received, so R becomes P at the message's number; the load
// contains only what is held.
//
// It fails with cluster.Stale when the message is for another incarnation of this node or from a
// scheduler process that a newer one has replaced, with cluster.UnknownScheduler when the scheduler
// has to attach first, with cluster.Invalid when its numbers contradict each other. Then nothing has
// changed.
func (n *Node) Enqueue(now time.Duration, e *cluster.Enqueue) (cluster.EnqueueReply, Actions, error) {
	actions := n.begin()
	if e.NodeIncarnation != n.cfg.Node.Incarnation {
		return cluster.EnqueueReply{}, actions, cluster.Errorf(cluster.Stale, "placements are for incarnation %d of node %s; this is %d",
			e.NodeIncarnation, n.cfg.Node.Name, n.cfg.Node.Incarnation)
	}
	s, err := n.attached(&e.Scheduler)
	if err != nil {
		return cluster.EnqueueReply{}, actions, err
	}
	if err := checkNumbers(e); err != nil {
		return cluster.EnqueueReply{}, actions, err
	}
	var reply cluster.EnqueueReply
	for i := range e.Assignments {
		if refusal := n.place(now, s, &e.Assignments[i], &actions); refusal != nil {
			reply.Refused = append(reply.Refused, *refusal)
			n.counts.Refused++
			n.counts.Refusals[refusal.Code]++
		}
	}
	if e.Number > s.number {
		s.number, s.received = e.Number, e.Placed
	}
	s.heard = now
	if reply.Report = n.rider(now, s, nil); reply.Report == nil && len(reply.Refused) > 0 {
		reply.Report = n.reportTo(now, s)
	}
	return reply, n.done(&actions), nil
}

// checkNumbers checks that the message accounts for its placements, each once and in order.
func checkNumbers(e *cluster.Enqueue) error {
	last := int64(0)
	for i := range e.Assignments {
		a := &e.Assignments[i]
		if a.Number <= last || a.Number > e.Number {
			return cluster.Errorf(cluster.Invalid, "placement %d (task %q) follows %d in a message up to %d: numbers ascend from 1",
				a.Number, a.TaskID, last, e.Number)
		}
		last = a.Number
	}
	if e.Number < 0 {
		return cluster.Errorf(cluster.Invalid, "a message up to placement %d: numbers ascend from 1", e.Number)
	}
	return nil
}

// place holds one assignment, or says why not.
func (n *Node) place(now time.Duration, s *stream, a *cluster.Assignment, actions *Actions) *cluster.Refusal {
	held := n.held.byID[a.TaskID]
	if a.Number <= s.number {
		return n.repeat(s, a, held, actions)
	}
	if held != nil && !held.runsAnew(a) {
		return n.share(s, a, held, actions)
	}
	p, refusal := n.check(now, a)
	if refusal != nil {
		return refusal
	}
	t := n.held.spare.Take()
	*t = task{
		id: a.TaskID, prog: p, mode: cluster.CanonicalMode(a.Mode), shape: a.Shape, guessed: a.Guessed, takes: a.Takes, scale: a.TimeScale,
		user: n.word(a.User), phase: cluster.Queued, rif: n.load.Tasks, enqueued: now, started: -1, attempt: max(a.Attempt, 1),
	}
	if used := p.template; used != nil {
		n.templates.use(used)
		t.command = &cluster.Command{Digest: used.digest, Template: used.Template, Job: a.Command.Job, Index: a.Command.Index,
			Entries: a.Command.Entries}
	}
	t.owners = t.single[:0]
	t.own(s, a.Number)
	s.active++
	n.held.add(t)
	n.load = n.load.Add(cluster.LoadOf(t.shape))
	n.queue.push(now, t)
	n.admit(now, actions)
	n.counts.Accepted++
	return nil
}

// repeat answers a placement that was received before: its acknowledgement was lost.
func (n *Node) repeat(s *stream, a *cluster.Assignment, held *task, actions *Actions) *cluster.Refusal {
	if held == nil {
		return refuse(a, cluster.NotHeld, "node %s received placement %d before and does not hold the task", n.cfg.Node.Name, a.Number)
	}
	i := held.ownerOf(s)
	if i < 0 || held.owners[i].number != a.Number {
		return refuse(a, cluster.NotHeld, "node %s holds the task for another placement than %d", n.cfg.Node.Name, a.Number)
	}
	if held.phase == cluster.Ended {
		actions.notify(s.ref.Name)
	}
	n.counts.Repeated++
	return nil
}

// runsAnew reports whether an assignment asks for another execution than that which t was: t was given up, or it is a
// command that ended otherwise than well and is tried once more, by a scheduler that has not acknowledged that end yet. What must
// not run twice does not, once it has started.
func (t *task) runsAnew(a *cluster.Assignment) bool {
	if t.phase != cluster.Ended || t.user != a.User || a.AtMostOnce && t.started >= 0 {
		return false
	}
	switch t.result.Outcome {
	case cluster.Lost:
		return true
	case cluster.Failed, cluster.TimedOut, cluster.Cancelled:
		return a.Command != nil && a.Attempt > t.attempt
	}
	return false
}

// share answers a new placement of a task that the node holds: for another scheduler, after its
// client tried again there, or for the same one, after it had given an earlier placement up. The task
// runs once and everybody who placed it is told how it ended. A task that was given up (Lost) is no
// answer to somebody who wants it run.
func (n *Node) share(s *stream, a *cluster.Assignment, held *task, actions *Actions) *cluster.Refusal {
	if !held.same(a) {
		return n.taken(a, held)
	}
	known := held.ownerOf(s) >= 0
	held.own(s, a.Number)
	switch {
	case held.phase == cluster.Ended:
		held.pending++
		n.deliver(held, owner{s, a.Number}, actions)
	case !known:
		s.active++
	}
	n.counts.Repeated++
	return nil
}

// taken refuses a placement whose id another task has. Of one of another user it says nothing more.
func (n *Node) taken(a *cluster.Assignment, held *task) *cluster.Refusal {
	if held.user != a.User {
		return refuse(a, cluster.DuplicateTask, "node %s holds another task with this id", n.cfg.Node.Name)
	}
	return refuse(a, cluster.DuplicateTask, "node %s holds another task with this id (type %s, mode %q)", n.cfg.Node.Name, held.prog.name,
		held.mode)
}

// word is a user's name, one copy of it for all.
func (n *Node) word(user string) string {
	known, ok := n.users[user]
	if !ok {
		known = strings.Clone(user)
		n.users[known] = known
	}
	return known
}

// check returns the program that a new assignment runs, or why this node cannot run it.
func (n *Node) check(now time.Duration, a *cluster.Assignment) (*program, *cluster.Refusal) {
	name := n.cfg.Node.Name
	if problem := n.malformed(a); problem != "" {
		return nil, refuse(a, cluster.InvalidTask, "%s", problem)
	}
	if n.draining {
		return nil, refuse(a, cluster.NodeDraining, "node %s takes no new tasks", name)
	}
	p, refusal := n.programOf(now, a)
	if refusal != nil {
		return nil, refusal
	}
	if a.TimeScale != 1 && !p.emulated {
		return nil, refuse(a, cluster.Unsupported, "executor %s does real work, which cannot be scaled in time (time scale %v)", p.executor,
			a.TimeScale)
	}
	if k, never := n.ledger.exceeds(&a.Shape.Demand); never {
		d := n.cfg.Dimensions
		return nil, refuse(a, cluster.NeverFits, "the task needs %s, node %s has %s", d.Format(k, a.Shape.Demand[k]), name,
			d.Format(k, n.ledger.capacity[k]))
	}
	if k, never := a.Shape.Demand.Splits(&n.ledger.capacity); never {
		d := n.cfg.Dimensions
		return nil, refuse(a, cluster.NeverFits, "node %s has %s as devices, and %s", name, d.Format(k, n.ledger.capacity[k]),
			d.SplitRule(k, a.Shape.Demand[k]))
	}
	if n.queue.len() >= n.cfg.Limits.MaxQueue {
		return nil, refuse(a, cluster.QueueFull, "node %s has %d tasks waiting, its limit", name, n.queue.len())
	}
	return p, nil
}

// programOf returns what an assignment runs on this node, or why it does not run here.
func (n *Node) programOf(now time.Duration, a *cluster.Assignment) (*program, *cluster.Refusal) {
	name, p := n.cfg.Node.Name, n.programs[a.Type]
	if a.Command != nil {
		return n.commandOf(now, a)
	}
	if p == nil {
		return nil, refuse(a, cluster.UnknownType, "node %s does not know task type %q", name, a.Type)
	}
	if !p.hasMode(a.Mode) {
		return nil, refuse(a, cluster.UnknownMode, "task type %q has no mode %q on node %s", a.Type, a.Mode, name)
	}
	if p.missing {
		return nil, refuse(a, cluster.Unsupported, "node %s has no executor %q (it has: %s)", name, p.executor, n.cfg.names())
	}
	return p, nil
}

// commandOf returns the program that a task brought along.
func (n *Node) commandOf(now time.Duration, a *cluster.Assignment) (*program, *cluster.Refusal) {
	name := n.cfg.Node.Name
	if a.Type != cluster.CommandType {
		return nil, refuse(a, cluster.InvalidTask, "a task with a command is of type %q, not %q", cluster.CommandType, a.Type)
	}
	t := n.find(now, a.User, a.Command)
	if t == nil {
		return nil, refuse(a, cluster.UnknownTemplate, "node %s does not know the template %.80q: send it along", name, a.Command.Digest)
	}
	if refusal := t.refusals[a.User]; refusal.why != "" {
		return nil, refuse(a, cluster.NotAllowed, "%s", refusal.why)
	}
	return &t.program, nil
}

// malformed says what is wrong with an assignment, whatever the node.
func (n *Node) malformed(a *cluster.Assignment) string {
	if a.TaskID == "" {
		return "the task has no id"
	}
	if a.Shape.Duration < 0 || a.Shape.Duration > cluster.MaxDuration {
		return fmt.Sprintf("an estimate of %d ms is out of range (0 to %d)", a.Shape.Duration, cluster.MaxDuration)
	}
	if a.Takes < 0 || a.Takes > cluster.MaxDuration {
		return fmt.Sprintf("a duration of %d ms is out of range (0 to %d)", a.Takes, cluster.MaxDuration)
	}
	if !(a.TimeScale >= 1 && a.TimeScale <= cluster.MaxTimeScale) {
		return fmt.Sprintf("time scale %v is out of range (1 to %v)", a.TimeScale, float64(cluster.MaxTimeScale))
	}
	for k, amount := range a.Shape.Demand {
		if amount < 0 || amount > cluster.MaxAmount || (amount > 0 && k >= n.cfg.Dimensions.Len()) {
			return fmt.Sprintf("a demand of %d in dimension %d is out of range", amount, k)
		}
	}
	return ""
}

func refuse(a *cluster.Assignment, code cluster.RefusalCode, format string, args ...any) *cluster.Refusal {
	return &cluster.Refusal{TaskID: a.TaskID, Number: a.Number, Code: code, Message: fmt.Sprintf(format, args...)}
}
