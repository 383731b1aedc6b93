package sim_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
	"dodoor/scheduler"
	"dodoor/sim"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// moments decides what comes first of what happens at the same instant on a real cluster in a bubble: one
// message is delivered at a time, or one execution ends, and everything that this causes comes to rest
// before the next. What waits passes first come, first served; what one cause sends at once passes in
// the order in which the shells ask for it. That is the order of an event loop without delays.
type moments struct {
	turns    *rpctest.Turns[moment]
	troubles *troubles
	place    map[string]int // of every service, by address: in the order in which they start
	task     map[string]int // of every task, by id: in the order in which they are due

	mu    sync.Mutex
	last  map[[2]string]int
	asks  int
	asked map[[3]string]int // by scheduler, worker and task: the probe's place among all that were asked for
}

// moment is a message or the end of an execution. What was held up goes on in the order in which it came.
// Whose last request of the kind was answered first comes first: so do timers go off that were set one after the other.
type moment struct{ held, kind, since, from, to, within int }

func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(a.held, b.held), cmp.Compare(a.kind, b.kind), cmp.Compare(a.since, b.since),
		cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.within, b.within))
}

// kinds is the order of what one cause sends at once. A scheduler sends placements, probes, cancellations
// and a delta; a worker sends a completion notice and a report. Nothing depends on the order of the rest.
var kinds = []string{endOfExecution, "attach", "enqueue", "probe", "cancel", "flush", "complete", "report", "push", "other", "reply"}

const endOfExecution = "end of execution"

func kindOf(msg rpctest.Message) int {
	switch {
	case msg.Reply:
		return slices.Index(kinds, "reply")
	case slices.Contains(kinds, msg.Method):
		return slices.Index(kinds, msg.Method)
	}
	return slices.Index(kinds, "other")
}

func newMoments(cfg *sim.Config) *moments {
	m := &moments{troubles: newTroubles(), place: map[string]int{dataAddress: 0}, task: map[string]int{}, last: map[[2]string]int{},
		asked: map[[3]string]int{}}
	for i := range cfg.Nodes {
		m.place[addressOf(cfg.Nodes[i].Name)] = len(m.place)
	}
	for i := range cfg.Schedulers {
		m.place[addressOf(schedulerName(i))] = len(m.place)
	}
	m.place[generatorName] = len(m.place)
	for i := range cfg.Workload.Len() {
		m.task[cfg.Workload.ID(i)] = i
	}
	m.turns = rpctest.NewTurns(synctest.Wait, compareMoments)
	return m
}

func addressOf(name string) string { return name + ":1" }

func schedulerName(i int) string { return cluster.SchedulerName(i) }

// pass waits for a message's turn.
func (m *moments) pass(msg rpctest.Message) bool {
	at := moment{kind: kindOf(msg), from: m.place[msg.From], to: m.place[msg.To]}
	switch {
	case msg.Reply:
	case msg.Method == "probe":
		at.to = m.placeOfProbe(msg)
	case msg.Method == "submit":
		at.within = m.task[msg.Task]
	}
	if !msg.Reply {
		at.since = m.sinceLast(msg, 0)
	}
	m.turns.Take(at)
	if msg.Reply {
		m.sinceLast(msg, m.troubles.next())
	}
	m.troubles.note(msg)
	lost := msg.Reply && m.troubles.loses(msg) // the answer is made now
	if delay := m.troubles.delay(msg); delay > 0 {
		late := moment{held: m.troubles.next()}
		<-time.After(delay)
		m.turns.Take(late)
	}
	for resume := m.troubles.stalled(msg); resume != nil; resume = m.troubles.stalled(msg) {
		late := moment{held: m.troubles.next()}
		<-resume
		m.turns.Take(late)
	}
	if msg.Reply {
		return !lost
	}
	if lost = m.troubles.loses(msg); !lost && !msg.Refused {
		m.turns.Take(at) // its handler is done with it
	}
	return !lost
}

// sinceLast returns when the sender's last request by a method was answered, in the order of what was, or notes that.
func (m *moments) sinceLast(msg rpctest.Message, now int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := [2]string{msg.From, msg.Method}
	if now > 0 {
		m.last[key] = now
	}
	return m.last[key]
}

// ending makes executions that end at the same instant do so in the order of their tasks.
func (m *moments) ending(e executor.Sleep) function {
	return function{run: func(ctx context.Context, s worker.Start) worker.Result {
		order := m.troubles.next()
		result := e.Run(ctx, s)
		if ctx.Err() != nil {
			return result // it was cancelled, in its worker's turn
		}
		m.turns.Take(moment{kind: slices.Index(kinds, endOfExecution), from: m.task[s.TaskID], within: order})
		return result
	}}
}

// function is an executor that calls one.
type function struct {
	executor.Base
	run func(ctx context.Context, s worker.Start) worker.Result
}

func (f function) Run(ctx context.Context, s worker.Start) worker.Result { return f.run(ctx, s) }

// probing is a scheduler's policy, and notes in which order it probes: the shell sends all probes of one
// decision at once, and the order of their answers may decide.
type probing struct {
	scheduler.Policy
	m    *moments
	name string // address of the scheduler
}

func (m *moments) probing(name string, p scheduler.Policy) scheduler.Policy {
	noting := &probing{p, m, name}
	if ticker, ok := p.(scheduler.Ticker); ok {
		return &polling{noting, ticker}
	}
	return noting
}

func (p *probing) Submit(now time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	return p.note(p.Policy.Submit(now, t, v), v)
}

func (p *probing) Probed(now time.Duration, answer scheduler.Probe, v *scheduler.View) scheduler.Decision {
	return p.note(p.Policy.(scheduler.Prober).Probed(now, answer, v), v)
}

func (p *probing) note(decision scheduler.Decision, v *scheduler.View) scheduler.Decision {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	for _, call := range decision.Probe {
		task := pollID
		if call.Task != nil {
			task = call.Task.ID
		}
		p.m.asked[[3]string{p.name, addressOf(v.Node(call.Node).Name), task}] = p.m.asks
		p.m.asks++
	}
	return decision
}

// pollID is what schedulers call a probe that no task asked for.
const pollID = "poll"

func (m *moments) placeOfProbe(msg rpctest.Message) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[[3]string{msg.From, msg.To, msg.Task}]
}

// polling is a policy that also acts as time goes by.
type polling struct {
	*probing
	ticker scheduler.Ticker
}

// Tick implements scheduler.Ticker.
func (p *polling) Tick(now time.Duration, v *scheduler.View) scheduler.Decision {
	return p.note(p.ticker.Tick(now, v), v)
}
