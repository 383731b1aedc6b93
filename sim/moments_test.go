package sim_test

import (
	"cmp"
	"context"
	"fmt"
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
	turns *rpctest.Turns[moment]
	place map[string]int // of every service, by address: in the order in which they start
	task  map[string]int // of every task, by id: in the order in which they are due

	mu    sync.Mutex
	asked map[[2]string]int // by scheduler and worker: the latter's place in the latest list of probes
}

// moment is a message or the end of an execution.
type moment struct{ kind, from, to, within int }

func compareMoments(a, b moment) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.within, b.within))
}

// kinds is the order of what one cause sends at once. A scheduler sends placements, probes, cancellations
// and a delta; a worker sends a completion notice and a report. Nothing depends on the order of the rest.
var kinds = []string{endOfExecution, "reply", "attach", "enqueue", "probe", "cancel", "flush", "complete", "report", "push", "other"}

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
	m := &moments{place: map[string]int{dataAddress: 0}, task: map[string]int{}, asked: map[[2]string]int{}}
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

func schedulerName(i int) string { return fmt.Sprintf("scheduler-%d", i+1) }

// pass waits for a message's turn.
func (m *moments) pass(msg rpctest.Message) {
	at := moment{kind: kindOf(msg), from: m.place[msg.From], to: m.place[msg.To]}
	if msg.Method == "probe" && !msg.Reply {
		at.to = m.placeOfProbe(msg.From, msg.To)
	}
	m.turns.Take(at)
}

// ending makes executions that end at the same instant do so in the order of their tasks.
func (m *moments) ending(e executor.Sleep) executorFunc {
	return func(ctx context.Context, s worker.Start) worker.Result {
		result := e.Run(ctx, s)
		m.turns.Take(moment{kind: slices.Index(kinds, endOfExecution), within: m.task[s.TaskID]})
		return result
	}
}

type executorFunc func(ctx context.Context, s worker.Start) worker.Result

func (f executorFunc) Run(ctx context.Context, s worker.Start) worker.Result { return f(ctx, s) }

// probing is a scheduler's policy, and notes in which order it probes: the shell sends all probes of one
// step at once, and the order of their answers may decide.
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

func (p *probing) Submit(now time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	return p.note(p.Policy.Submit(now, t, v), v)
}

func (p *probing) Probed(now time.Duration, answer scheduler.Probe, v *scheduler.View) scheduler.Step {
	return p.note(p.Policy.Probed(now, answer, v), v)
}

func (p *probing) note(step scheduler.Step, v *scheduler.View) scheduler.Step {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	for i, call := range step.Probe {
		p.m.asked[[2]string{p.name, addressOf(v.Node(call.Node).Name)}] = i
	}
	return step
}

func (m *moments) placeOfProbe(from, to string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[[2]string{from, to}]
}

// polling is a policy that also acts as time goes by.
type polling struct {
	*probing
	ticker scheduler.Ticker
}

// Tick implements scheduler.Ticker.
func (p *polling) Tick(now time.Duration, v *scheduler.View) scheduler.Step {
	return p.note(p.ticker.Tick(now, v), v)
}
