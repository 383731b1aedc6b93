package worker

import (
	"time"

	"dodoor/internal/cluster"
)

// Cancel ends a task: at once when it waits, through Actions.Kill and then Finished when it runs. A scheduler ends what it
// placed itself: where others placed the task as well, and their processes are still the ones that did, its claim alone goes,
// which is told as cancelled, and the execution goes on for the others. The last one ends it, and so does a person, who names
// no scheduler. It is false when the node does not hold the task, for this scheduler or this asker, or the task has ended.
func (n *Node) Cancel(now time.Duration, by cluster.Asker, taskID, scheduler string) (Actions, bool) {
	actions := n.begin()
	t := n.seen(by, taskID)
	if t == nil || t.phase == cluster.Ended {
		return actions, false
	}
	if scheduler != "" {
		own, others := t.claims(scheduler)
		if own == 0 {
			return actions, false
		}
		if others > 0 {
			n.withdraw(now, t, scheduler, &actions)
			return n.done(&actions), true
		}
	}
	if t.phase == cluster.Running {
		actions.Kill = []string{taskID}
		return n.done(&actions), true
	}
	n.end(now, t, Result{Outcome: cluster.Cancelled, ExitCode: -1, Reason: "cancelled while queued"}, &actions)
	n.admit(now, &actions)
	return n.done(&actions), true
}

// claims counts a scheduler's own placements of a task, and those that others wait for.
func (t *task) claims(scheduler string) (own, others int) {
	for _, o := range t.owners {
		switch {
		case o.stream.ref.Name == scheduler:
			own++
		case !o.stream.replaced:
			others++
		}
	}
	return own, others
}

// withdraw takes a scheduler's claims away from a task that goes on for others.
func (n *Node) withdraw(now time.Duration, t *task, scheduler string, actions *Actions) {
	n.owners = append(n.owners[:0], t.owners...)
	for _, o := range n.owners {
		if o.stream.ref.Name != scheduler {
			continue
		}
		t.disown(o)
		o.stream.active--
		n.post(ended{owner: o, apart: &apart{at: now, completion: t.withdrawn(now, o.number, n.cfg.Node.Name)}}, actions)
	}
}

// withdrawn is how a placement ends whose scheduler does not want it any more, while the task goes on.
func (t *task) withdrawn(now time.Duration, number int64, node string) cluster.Completion {
	c := cluster.Completion{TaskID: t.id, Number: number, Outcome: cluster.Cancelled, ExitCode: -1,
		Reason: "cancelled here; node " + node + " goes on with it for another scheduler that got it as well"}
	if c.Wait = max(0, now-t.enqueued); t.started >= 0 {
		c.Wait, c.Run = max(0, t.started-t.enqueued), max(0, now-t.started)
	}
	return c
}
