package sim

import (
	"errors"
	"fmt"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// generatorShell performs what the client wants done, as generator/drive does: it submits every task when
// it is due and writes what became of it.
type generatorShell struct {
	sim    *Simulation
	client *generator.Client
	polls  []poll        // by scheduler
	alarm  time.Duration // of the next tick; Never: none is set
	open   int           // tasks without a row
	count  Result
	row    generator.Row // being written
	err    error         // writing rows failed

	reply cluster.CollectReply // memory of the last one
}

// poll is the question for results that a scheduler has before it. It costs no scheduler's time until there
// is one, so the generator asks all the time, and results reach it at once.
type poll struct {
	generator.Poll
	open    bool
	arrived bool
	until   time.Duration // when it has arrived: it is answered then, with results or without
}

var (
	errGone = errors.New("nobody listens")
	errDied = errors.New("the scheduler died over it")
)

func newGenerator(s *Simulation) *generatorShell {
	w := s.cfg.Workload
	cfg := generator.ClientConfig{Tasks: w.Len(), Skew: s.cfg.Skew, MaxBatch: 1, Patience: s.cfg.Patience}
	if len(s.cfg.Faults) > 0 {
		cfg.PollPause = generator.PollPause
	}
	for i := range s.schedulers {
		cfg.Schedulers = append(cfg.Schedulers, cluster.SchedulerRef{Name: cluster.SchedulerName(i)})
	}
	g := &generatorShell{sim: s, client: generator.NewClient(cfg), polls: make([]poll, len(s.schedulers)),
		alarm: generator.Never, open: w.Len()}
	for i := range w.Len() {
		g.client.Expect(w.ID(i))
	}
	return g
}

// start puts the first arrival on the clock, and asks the schedulers who they are.
func (g *generatorShell) start() {
	g.next(0)
	g.perform(g.client.Start(g.sim.now))
	for i := range g.polls {
		g.collect(int32(i))
	}
}

// next puts the arrival of task i on the clock.
func (g *generatorShell) next(i int32) {
	if int(i) == g.sim.cfg.Workload.Len() {
		return
	}
	m := g.sim.take(noRequest)
	m.stage, m.task = due, i
	g.sim.onHeap(max(0, g.sim.cfg.Workload.Due(int(i))-g.sim.now), m)
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
		m.sched, m.node, m.task, m.submission, m.refused = int32(out.Scheduler), -1, out.Tasks[0], out, m.refused[:0]
		g.sim.send(m)
	}
	for i := range actions.Ended {
		g.write(&actions.Ended[i])
	}
	for i := range actions.Poll {
		if p := &actions.Poll[i]; p.At <= g.sim.now {
			g.polls[p.Scheduler] = poll{Poll: *p, open: true}
		} else {
			g.askLater(*p)
		}
	}
	if at := actions.Wake; at != generator.Never && (g.alarm == generator.Never || at < g.alarm) {
		g.setAlarm(at)
	}
}

func (g *generatorShell) askLater(p generator.Poll) {
	g.sim.later(p.At-g.sim.now, func() {
		g.polls[p.Scheduler] = poll{Poll: p, open: true}
		g.collect(int32(p.Scheduler))
	})
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
	switch now := g.sim.now; {
	case m.unsent:
		g.perform(g.client.Failed(now, m.submission, generator.Gone, errGone))
	case m.failed:
		g.perform(g.client.Failed(now, m.submission, generator.Unanswered, errDied))
	case m.code != 0:
		g.perform(g.client.Failed(now, m.submission, generator.FailureOf(m.code), cluster.Errorf(m.code, "the scheduler takes nothing")))
	default:
		g.perform(g.client.Accepted(now, m.submission, m.refused))
	}
}

// collect has a scheduler answer the poll that it has before it, if there is something to say.
func (g *generatorShell) collect(sched int32) {
	d, p := &g.sim.schedulers[sched], &g.polls[sched]
	for p.open {
		switch {
		case !d.reachable():
			g.cut(sched, generator.Gone)
			return
		case d.stalls > 0:
			return
		case d.deaf > 0 && !p.arrived:
			g.cut(sched, generator.Unanswered)
			return
		}
		fresh := !p.arrived
		if fresh {
			p.arrived, p.until = true, g.sim.now+p.Wait
		}
		question := cluster.CollectRequest{Client: client, After: p.After, Incarnation: p.Incarnation, Max: p.Max}
		records, cursor, err := d.replica.Collect(g.reply.Records[:0], &question)
		must(err)
		for i := range records {
			records[i].Received += d.born
		}
		g.reply = cluster.CollectReply{Records: records, Cursor: cursor, Incarnation: d.ref.Incarnation}
		if len(records) == 0 && g.sim.now < p.until {
			if fresh && len(g.sim.cfg.Faults) > 0 {
				g.sim.later(p.Wait, func() { g.collect(sched) })
			}
			return
		}
		if d.mute > 0 {
			g.cut(sched, generator.Unanswered)
			return
		}
		p.open = false
		g.perform(g.client.Collected(g.sim.now, int(sched), &g.reply))
	}
}

// cut ends the poll that a scheduler has before it without an answer.
func (g *generatorShell) cut(sched int32, f generator.Failure) {
	if p := &g.polls[sched]; p.open {
		p.open = false
		g.perform(g.client.PollFailed(g.sim.now, int(sched), f, errGone))
	}
}

// abandon ends everything: no result is waited for any more.
func (g *generatorShell) abandon(reason string) { g.perform(g.client.Abandon(g.sim.now, reason)) }

// stop ends everything because somebody wants no more of it.
func (g *generatorShell) stop() {
	g.perform(g.client.Stop(g.sim.now))
	g.abandon("abandoned: the run was stopped")
}

func (g *generatorShell) write(e *generator.Ending) {
	g.row = e.Row(g.sim.cfg.Workload, 0)
	g.row.Warmup = int(e.Task) < g.sim.cfg.Warmup
	g.open--
	g.sim.moves++
	g.count.add(g.row.Outcome, e.Cause)
	if g.sim.cfg.Row != nil && g.err == nil {
		g.err = g.sim.cfg.Row(&g.row)
	}
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
func (g *generatorShell) verify() error {
	if n := g.client.Open(); n > 0 {
		return fmt.Errorf("%d tasks never ended", n)
	}
	total := 0
	for _, n := range g.count.Outcomes {
		total += n
	}
	if total != g.sim.cfg.Workload.Len() || g.count.Outcomes[cluster.NoOutcome] != 0 {
		return fmt.Errorf("%d outcomes of %d tasks", total, g.sim.cfg.Workload.Len())
	}
	return nil
}
