package sim

import (
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Witness is told what happens to tasks, as somebody sees it who stands outside. All times are those of the run.
type Witness interface {
	Asked(Asked)
	Ran(Ran)
	Got(Got)
	Withdrew(Withdrew)
}

// Asked is what came of a submission.
type Asked struct {
	At                      time.Duration // of the answer, or when it was clear that none comes
	Client, Task, Scheduler string
	Accepted, Refused       bool // neither: it may have been taken
}

// Ran is an execution.
type Ran struct {
	Task, Worker string
	Process      int64 // of the worker
	Place        int64 // in the order in which that process took tasks, from 1 on
	Attempt      int
	Start, End   time.Duration // End is 0 when its process died before
	Outcome      cluster.Outcome
	Exit         int
}

// Got is how a task ended for its client.
type Got struct {
	At           time.Duration
	Client, Task string
	Record       *cluster.TaskRecord // valid until Got returns; nil: its client waits no more, for the Reason
	Reason       string
}

// Withdrew is a client's wish that a task end. It is told of twice: when a scheduler is asked, and what that one answers.
type Withdrew struct {
	At                      time.Duration
	Client, Task, Scheduler string
	Answered, Found         bool // Found: the task had not ended there, and is to
}

// witnessAnswer tells what came of a submission.
func (s *Simulation) witnessAnswer(client string, m *message) {
	if s.cfg.Witness == nil {
		return
	}
	a := Asked{At: s.now, Client: client, Task: s.cfg.Workload.ID(int(m.task)), Scheduler: cluster.SchedulerName(int(m.sched))}
	switch {
	case m.unsent || !m.failed && m.code != 0:
		a.Refused = true
	case m.failed:
	case len(m.refused) > 0 && m.refused[0].Code != cluster.DuplicateTask:
		a.Refused = true
	default:
		a.Accepted = true
	}
	s.cfg.Witness.Asked(a)
}

// witnessWithdrawal tells of a wish, or of its answer.
func (s *Simulation) witnessWithdrawal(client string, m *message, answered bool) {
	if s.cfg.Witness != nil {
		s.cfg.Witness.Withdrew(Withdrew{At: s.now, Client: client, Task: m.taskID, Scheduler: cluster.SchedulerName(int(m.sched)),
			Answered: answered, Found: answered && m.found})
	}
}

// witnessEnd tells how a task ended for its client.
func (s *Simulation) witnessEnd(client string, e *generator.Ending) {
	if s.cfg.Witness != nil {
		s.cfg.Witness.Got(Got{At: s.now, Client: client, Task: s.cfg.Workload.ID(int(e.Task)), Record: e.Record, Reason: e.Reason})
	}
}

// witnessStart keeps what is to be told of an execution.
func (w *workerShell) witnessStart(start *worker.Start, place int64) {
	if w.sim.cfg.Witness == nil {
		return
	}
	if w.runs == nil {
		w.runs = map[string]*Ran{}
	}
	r := &Ran{Task: start.TaskID, Worker: w.ref.Name, Process: w.ref.Incarnation, Place: place, Attempt: start.Attempt, Start: w.sim.now}
	w.runs[start.TaskID] = r
	w.order = append(w.order, r)
}

// witnessResult tells of an execution that has ended.
func (w *workerShell) witnessResult(task string, result worker.Result) {
	if r := w.runs[task]; r != nil {
		r.End, r.Outcome, r.Exit = w.sim.now, result.Outcome, result.ExitCode
		delete(w.runs, task)
		w.sim.cfg.Witness.Ran(*r)
	}
}

// witnessDeath tells of the executions that end with their process.
func (w *workerShell) witnessDeath() {
	for _, r := range w.order {
		if w.runs[r.Task] == r {
			w.sim.cfg.Witness.Ran(*r)
		}
	}
	w.runs, w.order = nil, nil
}
