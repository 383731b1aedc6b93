package sim

import (
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// workerShell performs what one node wants done, as workerd does: it runs the executions, and moves the
// messages of the notifiers and the reporter.
type workerShell struct {
	service
	sim   *Simulation
	index int32
	ref   cluster.Node
	node  *worker.Node
	check ledger

	notifiers []worker.Notifier // by scheduler
	reporter  worker.Reporter
	alarms    []time.Duration // when the node looks at tasks past their estimates, the next one last

	runs  map[string]*Ran // for the witness: those under way, by their tasks
	order []*Ran          // in the order of their starts, with some that are over
}

// enqueued is the handler of a batch of placements.
func (w *workerShell) enqueued(m *message) {
	reply, actions, err := w.node.Enqueue(w.now(), &m.enqueue)
	m.reply, m.code = reply, cluster.CodeOf(err)
	if err == nil {
		w.sim.moves++
		w.check.accepted(&m.enqueue, &reply)
	}
	w.perform(&actions)
}

// attachedTo is the handler of a scheduler's handshake.
func (w *workerShell) attachedTo(m *message) {
	reply, actions, err := w.node.Attach(w.now(), m.enqueue.Scheduler)
	m.attach, m.code = reply, cluster.CodeOf(err)
	w.perform(&actions)
}

// claimed is the handler of a question about placements of a scheduler's earlier processes.
func (w *workerShell) claimed(m *message) {
	holdings, err := w.node.Claim(&m.claim)
	m.holdings, m.code = holdings, cluster.CodeOf(err)
}

// probed is the handler of a probe.
func (w *workerShell) probed(m *message) { m.probe.Answer = w.node.Probe(w.now()) }

// cancelled is the handler of a cancellation.
func (w *workerShell) cancelled(m *message) {
	actions, _ := w.node.Cancel(w.now(), cluster.Everybody, m.taskID, w.sim.schedulers[m.sched].ref.Name)
	w.perform(&actions)
}

// perform starts, ends and tells what the node wants started, ended and told.
func (w *workerShell) perform(actions *worker.Actions) {
	for i := range actions.Start {
		w.run(&actions.Start[i])
	}
	for _, name := range actions.Notify {
		sched := w.sim.schedulerIndex[name]
		w.notifiers[sched].Post()
		w.notify(sched)
	}
	if actions.Report {
		w.reporter.Post()
		w.report()
	}
	for _, id := range actions.Kill {
		w.kill(id)
	}
	w.watch()
}

// watch sets an alarm for the moment at which a task may have run past its estimate, unless one is set for that moment or an earlier
// one, after which it watches again.
func (w *workerShell) watch() {
	due := w.node.Due()
	if due == 0 {
		return
	}
	at := max(due, w.now())
	if last := len(w.alarms) - 1; last >= 0 && w.alarms[last] <= at {
		return
	}
	w.alarms = append(w.alarms, at)
	m := w.sim.take(noRequest)
	m.stage, m.node, m.origin = overran, w.index, w.epoch
	w.sim.onHeap(at-w.now(), m)
}

// leave gives back what waits, and at last what runs.
func (w *workerShell) leave(last bool) {
	reason, give := "worker "+w.ref.Name+" is shutting down", w.node.AbandonQueued
	if last {
		give = w.node.Abandon
	}
	actions, _ := give(w.now(), reason)
	w.perform(&actions)
}

// overran takes an alarm. Those of earlier moments have gone off.
func (w *workerShell) overran(m *message) {
	if !w.up || w.epoch != m.origin {
		return
	}
	w.alarms = w.alarms[:len(w.alarms)-1]
	actions := w.node.Overran(w.now())
	w.perform(&actions)
}

// kill ends an execution before its time.
func (w *workerShell) kill(id string) {
	m := w.sim.execution(w, id)
	m.origin = -1 // nobody waits for its end any more
	w.check.ended(id, &m.demand)
	result := worker.Result{Outcome: cluster.Cancelled, ExitCode: -1, Reason: "cancelled while running"}
	w.witnessResult(id, result)
	actions := w.node.Finished(w.now(), id, result)
	w.perform(&actions)
}

// run starts an execution. It takes what the emulation says, longer the more of the node is in use, up to its
// time limit.
func (w *workerShell) run(start *worker.Start) {
	w.witnessStart(start, w.check.started(start))
	d := w.sim.slowed(w.sim.emulated(start), w.index)
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
	w.check.ended(m.taskID, &m.demand)
	result := w.sim.resultOf(m.taskID)
	if m.failed {
		result = worker.Result{Outcome: cluster.TimedOut, ExitCode: -1, Reason: "ran past its time limit"}
	}
	w.witnessResult(m.taskID, result)
	actions := w.node.Finished(w.now(), m.taskID, result)
	w.perform(&actions)
}

// notify sends a scheduler the notice that is to be sent now, if any; otherwise it returns when to look again.
func (w *workerShell) notify(sched int32) (wake time.Duration) {
	m := w.sim.take(complete)
	send, wake := w.notifiers[sched].Next(w.now(), &m.notice)
	if !send {
		w.sim.release(m)
		return wake
	}
	m.sched, m.node, m.origin = sched, w.index, w.epoch
	w.sim.send(m)
	return 0
}

// noticeAnswered takes what came of a notice.
func (w *workerShell) noticeAnswered(m *message) {
	if !w.up || w.epoch != m.origin {
		return
	}
	sched, epoch := m.sched, w.epoch
	if m.failed {
		w.notifiers[sched].Failed(w.now())
	} else {
		w.notifiers[sched].Answered(w.now(), &m.notice, m.code)
	}
	if wake := w.notify(sched); wake > 0 {
		w.sim.later(wake-w.now(), func() {
			if w.up && w.epoch == epoch {
				w.notify(sched)
			}
		})
	}
}

// report asks the data service what it is to be asked now, if anything; otherwise it returns when to look again.
func (w *workerShell) report() (wake time.Duration) {
	ask, wake := w.reporter.Next(w.now())
	switch ask {
	case worker.RegisterRequest:
		m := w.sim.take(registerNode)
		m.node, m.origin, m.newcomer = w.index, w.epoch, w.ref
		w.sim.send(m)
	case worker.ReportRequest, worker.HeartbeatRequest:
		m := w.sim.take(report)
		m.node, m.origin, m.idle = w.index, w.epoch, ask == worker.HeartbeatRequest
		w.node.FillReport(w.now(), &m.report)
		w.sim.send(m)
	}
	return wake
}

// reportAnswered takes what came of a report or a registration.
func (w *workerShell) reportAnswered(m *message) {
	if w.up && w.epoch == m.origin {
		w.dataAnswered(m.failed, m.code)
	}
}

// dataAnswered takes what came of a request to the data service, and goes on when it is time.
func (w *workerShell) dataAnswered(failed bool, code cluster.ErrorCode) {
	if failed {
		w.reporter.Failed(w.now())
	} else {
		w.reporter.Answered(w.now(), code)
	}
	if wake := w.report(); wake > 0 {
		m := w.sim.take(noRequest)
		m.stage, m.node, m.origin = beats, w.index, w.epoch
		w.sim.after(wake-w.now(), beatLane, m)
	}
}

// heartbeat reports, unless something else has been reported since it was planned.
func (w *workerShell) heartbeat(m *message) {
	if w.up && w.epoch == m.origin {
		w.report()
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
