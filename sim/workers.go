package sim

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// workerShell carries out what one node wants done, as workerd does: it runs the executions, carries
// completions to each scheduler one notice at a time, and reports to the data service, at most one report
// under way.
type workerShell struct {
	service
	sim   *Simulation
	index int32
	ref   cluster.Node
	node  *worker.Node
	check ledger

	notices   []notifier // by scheduler
	reporting bool
	reportDue bool
	beat      int // heartbeats planned so far: only the last one counts
}

// notifier carries completions to one scheduler.
type notifier struct {
	busy    bool
	due     bool // something ended while busy
	backoff time.Duration
}

// enqueued is the handler of a batch of placements.
func (w *workerShell) enqueued(m *message) {
	reply, step, err := w.node.Enqueue(w.sim.now, &m.enqueue)
	m.reply, m.code = reply, cluster.CodeOf(err)
	if err == nil {
		w.sim.moves++
		w.check.accepted(&m.enqueue, &reply)
	}
	w.carryOut(&step)
}

// attachedTo is the handler of a scheduler's handshake.
func (w *workerShell) attachedTo(m *message) {
	reply, err := w.node.Attach(w.sim.now, m.enqueue.Scheduler)
	m.attach, m.code = reply, cluster.CodeOf(err)
}

// probed is the handler of a probe.
func (w *workerShell) probed(m *message) { m.probe.Answer = w.node.Probe() }

// cancelled is the handler of a cancellation.
func (w *workerShell) cancelled(m *message) {
	step, _ := w.node.Cancel(w.sim.now, m.taskID)
	w.carryOut(&step)
}

// carryOut starts, ends and tells what the node wants started, ended and told.
func (w *workerShell) carryOut(step *worker.Step) {
	for i := range step.Start {
		w.run(&step.Start[i])
	}
	for _, name := range step.Notify {
		w.notify(w.sim.schedulerIndex[name])
	}
	if step.Report {
		w.report()
	}
	for _, id := range step.Kill {
		w.kill(id)
	}
}

// kill ends an execution before its time.
func (w *workerShell) kill(id string) {
	m := w.sim.execution(w, id)
	m.origin = -1 // nobody waits for its end any more
	w.check.ended(&m.demand)
	step := w.node.Finished(w.sim.now, id, worker.Result{Outcome: cluster.Cancelled, ExitCode: -1, Reason: "cancelled while running"})
	w.carryOut(&step)
}

// run starts an execution. It takes what the emulation says, longer the more of the node is in use, up to its
// time limit.
func (w *workerShell) run(start *worker.Start) {
	w.check.started(start)
	d := w.sim.slowed(w.sim.cfg.Emulation.Duration(start), w.index)
	m := w.sim.take(noRequest)
	if start.Timeout > 0 && d > start.Timeout {
		d, m.failed = start.Timeout, true
	}
	m.stage, m.node, m.origin, m.taskID, m.demand = ended, w.index, w.epoch, start.TaskID, start.Shape.Demand
	w.sim.onHeap(d, m)
}

// ended takes the end of an execution.
func (w *workerShell) ended(m *message) {
	if w.epoch != m.origin || !w.up {
		return
	}
	w.check.ended(&m.demand)
	result := worker.Result{Outcome: cluster.Finished}
	if m.failed {
		result = worker.Result{Outcome: cluster.TimedOut, ExitCode: -1, Reason: "ran past its time limit"}
	}
	step := w.node.Finished(w.sim.now, m.taskID, result)
	w.carryOut(&step)
}

// notify carries the oldest completions to a scheduler, unless a notice is under way.
func (w *workerShell) notify(sched int32) {
	n := &w.notices[sched]
	n.due = n.busy
	if n.busy {
		return
	}
	m := w.sim.take(complete)
	if !w.node.FillNotice(&m.notice, w.sim.now, w.sim.schedulers[sched].ref.Name, w.sim.cfg.MaxBatch) {
		w.sim.release(m)
		return
	}
	n.busy = true
	m.sched, m.node, m.origin = sched, w.index, w.epoch
	w.sim.send(m)
}

// noticeAnswered goes on with the next completions. A scheduler that is away is tried again; one that
// restarted does not know the tasks.
func (w *workerShell) noticeAnswered(m *message) {
	if !w.up || w.epoch != m.origin {
		return
	}
	n := &w.notices[m.sched]
	switch {
	case m.failed:
		n.backoff = min(max(2*n.backoff, firstBackoff), lastBackoff)
		sched, epoch := m.sched, w.epoch
		w.sim.later(n.backoff, func() {
			if w.up && w.epoch == epoch {
				w.notices[sched].busy = false
				w.notify(sched)
			}
		})
		return
	case m.code == 0:
		w.node.Acknowledged(&m.notice)
		n.backoff = 0
	}
	n.busy = false
	if m.code == 0 || n.due {
		w.notify(m.sched)
	}
}

// report tells the data service the node's state, or remembers to when the last report is answered.
func (w *workerShell) report() {
	if w.reporting {
		w.reportDue = true
		return
	}
	w.reportAs(false)
}

func (w *workerShell) reportAs(heartbeat bool) {
	w.reporting, w.reportDue = true, false
	m := w.sim.take(report)
	m.node, m.origin, m.idle = w.index, w.epoch, heartbeat
	w.node.FillReport(w.sim.now, &m.report)
	w.sim.send(m)
}

func (w *workerShell) reportAnswered(m *message) {
	if !w.up || w.epoch != m.origin {
		return
	}
	w.reporting = false
	if m.code == cluster.UnknownNode {
		w.sim.faults.workerLost(w)
	}
	if w.reportDue {
		w.report()
		return
	}
	w.rest()
}

// rest plans the next heartbeat, for the case that nothing is to be reported until then.
func (w *workerShell) rest() {
	w.beat++
	m := w.sim.take(noRequest)
	m.stage, m.node, m.origin, m.peer = beats, w.index, w.epoch, w.beat
	w.sim.after(w.sim.cfg.Heartbeat, beatLane, m)
}

// heartbeat reports, unless something else has been reported since it was planned.
func (w *workerShell) heartbeat(m *message) {
	if w.up && w.epoch == m.origin && w.beat == m.peer && !w.reporting {
		w.reportAs(true)
	}
}

// slowed is how long work takes on a node whose cores are partly reserved.
func (s *Simulation) slowed(d time.Duration, node int32) time.Duration {
	if s.cfg.Interference == 0 {
		return d
	}
	return time.Duration(float64(d) * (1 + s.cfg.Interference*s.workers[node].check.share()))
}

// execution finds a running execution on the clock.
func (s *Simulation) execution(w *workerShell, id string) *message {
	for i := range s.heap {
		if m := s.heap[i].m; m.stage == ended && m.node == w.index && m.origin == w.epoch && m.taskID == id {
			return m
		}
	}
	panic("node " + w.ref.Name + " kills task " + id + ", which does not run")
}
