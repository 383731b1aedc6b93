package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// generatorShell performs what one client wants done, as generator/drive does: it submits every task when
// it is due and writes what became of it.
type generatorShell struct {
	sim    *Simulation
	index  int32 // among the clients
	name   string
	tasks  []int32 // of the workload, by the client's numbers; nil: all of it
	client submitter
	polls  []poll                          // by scheduler
	posted map[*generator.Message]*message // under way, where there are faults; what was cut off is not
	alarm  time.Duration                   // of the next tick; Never: none is set

	row   generator.Row        // being written
	reply cluster.CollectReply // memory of the last one
}

var (
	errGone = errors.New("nobody listens")
	errDied = errors.New("the scheduler died over it")
)

func newGenerator(s *Simulation, index int, of Client) *generatorShell {
	g := &generatorShell{sim: s, index: int32(index), name: of.Name, tasks: of.Tasks, polls: make([]poll, len(s.schedulers)),
		posted: map[*generator.Message]*message{}, alarm: generator.Never}
	cfg := generator.ClientConfig{Tasks: g.len(), Skew: s.cfg.Skew, MaxBatch: 1, Patience: s.cfg.Patience}
	if len(s.cfg.Faults) > 0 {
		cfg.PollPause = generator.PollPause
	}
	for i := range s.schedulers {
		cfg.Schedulers = append(cfg.Schedulers, cluster.SchedulerRef{Name: cluster.SchedulerName(i)})
	}
	if of.Trusts {
		g.client = newTrusting(cfg)
	} else {
		g.client = generator.NewClient(cfg)
	}
	for i := range g.len() {
		spec := s.spec(int32(g.task(int32(i))))
		g.client.Expect(spec.ID, spec.AtMostOnce)
	}
	return g
}

// len is how many tasks the client submits.
func (g *generatorShell) len() int {
	if g.tasks != nil {
		return len(g.tasks)
	}
	return g.sim.cfg.Workload.Len()
}

// task is the workload's number of the client's task i.
func (g *generatorShell) task(i int32) int {
	if g.tasks != nil {
		return int(g.tasks[i])
	}
	return int(i)
}

// start puts the first arrival on the clock, and asks the schedulers who they are.
func (g *generatorShell) start() {
	g.next(0)
	g.withdrawals()
	g.perform(g.client.Start(g.sim.now))
	for i := range g.polls {
		g.collect(int32(i))
	}
}

// next puts the arrival of task i on the clock.
func (g *generatorShell) next(i int32) {
	if int(i) == g.len() {
		return
	}
	m := g.sim.take(noRequest)
	m.stage, m.task, m.client = due, i, g.index
	g.sim.onHeap(max(0, g.sim.cfg.Workload.Due(g.task(i))-g.sim.now), m)
}

// arrived submits a task that is due.
func (g *generatorShell) arrived(i int32) {
	g.next(i + 1)
	g.perform(g.client.Submit(g.sim.now, i))
}

// perform turns what the client wants into messages, timers and rows.
func (g *generatorShell) perform(actions *generator.Actions) {
	for _, out := range actions.Send {
		m := g.sim.take(submit)
		m.sched, m.node, m.task, m.submission, m.refused = int32(out.Scheduler), -1, int32(g.task(out.Tasks[0])), out, m.refused[:0]
		m.client, m.memory = g.index, out.Incarnation
		if len(g.sim.cfg.Faults) > 0 {
			g.posted[out] = m
		}
		g.sim.send(m)
	}
	for _, sched := range actions.Cut {
		g.sim.later(0, func() { g.hush(int32(sched)) })
	}
	for i := range actions.Ended {
		g.write(&actions.Ended[i])
	}
	for i := range actions.Poll {
		if p := &actions.Poll[i]; p.At <= g.sim.now {
			g.ask(*p)
		} else {
			g.askLater(*p)
		}
	}
	if at := actions.Wake; at != generator.Never && (g.alarm == generator.Never || at < g.alarm) {
		g.setAlarm(at)
	}
}

// hush cuts off the submissions that are under way to a scheduler.
func (g *generatorShell) hush(sched int32) {
	var all []*message
	for _, m := range g.posted {
		if m.sched == sched {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *message) int { return int(a.task - b.task) })
	for _, m := range all {
		delete(g.posted, m.submission)
		cut := *m // it goes on, and nobody hears of it
		cut.failed, cut.unsent = true, false
		g.sim.witnessAnswer(g.name, &cut)
		g.perform(g.client.Failed(g.sim.now, m.submission, generator.Unanswered, errGone))
	}
}

func (g *generatorShell) setAlarm(at time.Duration) {
	g.alarm = at
	g.sim.later(at-g.sim.now, func() {
		if g.alarm == at {
			g.alarm = generator.Never
		}
		g.perform(g.client.Tick(g.sim.now))
	})
}

// answered takes the answer to a submission, or the lack of one.
func (g *generatorShell) answered(m *message) {
	if len(g.sim.cfg.Faults) > 0 {
		if g.posted[m.submission] != m {
			return // it was cut off
		}
		delete(g.posted, m.submission)
	}
	g.sim.witnessAnswer(g.name, m)
	switch now := g.sim.now; {
	case m.unsent:
		g.perform(g.client.Failed(now, m.submission, generator.Gone, errGone))
	case m.failed:
		g.perform(g.client.Failed(now, m.submission, generator.Unanswered, errDied))
	case m.code != 0:
		g.perform(g.client.Failed(now, m.submission, generator.FailureOf(m.code),
			cluster.Later(m.code, m.after, "the scheduler takes nothing")))
	default:
		g.perform(g.client.Accepted(now, m.submission, m.refused))
	}
}

func (g *generatorShell) write(e *generator.Ending) {
	rows, ending := &g.sim.rows, *e
	ending.Task = int32(g.task(e.Task))
	g.row = ending.Row(g.sim.cfg.Workload, 0)
	g.row.Warmup = int(ending.Task) < g.sim.cfg.Warmup
	rows.open--
	g.sim.moves++
	rows.count.add(g.row.Outcome, e.Cause)
	g.sim.witnessEnd(g.name, &ending)
	if g.sim.cfg.Row != nil && rows.err == nil {
		rows.err = g.sim.cfg.Row(&g.row)
	}
}

// tally is what all clients have together.
type tally struct {
	open  int // tasks without a row
	count Result
	err   error // writing rows failed
}

// Result is what became of a run.
type Result struct {
	Outcomes [cluster.Lost + 1]int // tasks by outcome
	Counters generator.Counters    // request messages, as the services would have counted them
	Elapsed  time.Duration         // on the virtual clock
	Events   int64
	Messages int64 // requests of every kind
	Stopped  bool  // by Progress

	NotSubmitted, Abandoned int // of those that ended without a result
}

func (r *Result) add(o cluster.Outcome, why generator.Cause) {
	r.Outcomes[o]++
	switch why {
	case generator.NotSubmitted:
		r.NotSubmitted++
	case generator.Abandoned:
		r.Abandoned++
	}
}

// Finished is the number of tasks that finished.
func (r *Result) Finished() int { return r.Outcomes[cluster.Finished] }

// verify checks at the end that every task had exactly one outcome.
func (s *Simulation) verify() error {
	for _, g := range s.clients {
		if n := g.client.Open(); n > 0 {
			return fmt.Errorf("%d tasks never ended", n)
		}
	}
	total := 0
	for _, n := range s.rows.count.Outcomes {
		total += n
	}
	if total != s.cfg.Workload.Len() || s.rows.count.Outcomes[cluster.NoOutcome] != 0 {
		return fmt.Errorf("%d outcomes of %d tasks", total, s.cfg.Workload.Len())
	}
	return nil
}
