package sim

import (
	"fmt"
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// generatorShell submits every task when it is due and writes what became of it, as generator/drive does.
type generatorShell struct {
	sim   *Simulation
	byID  map[string]int32
	tasks []submission
	alive []bool  // schedulers that answer
	idle  []int32 // due, and no scheduler takes them
	open  int     // tasks without a row
	count Result
	row   generator.Row // being written
	err   error         // writing rows failed
}

// submission is where a task stands, as far as the generator knows.
type submission struct {
	sent  time.Duration
	sched int32 // who has it; -1: nobody
	sends int32 // submissions so far: an answer to an earlier one says nothing
	times int16 // schedulers that may have taken it
	ended bool
}

// noticeDeath is how long the generator takes to notice that a scheduler is gone: its long poll breaks, and
// the next one is refused.
const noticeDeath = 200 * time.Millisecond

// overloadRest is how long a scheduler that takes nothing more is left alone.
const overloadRest = 100 * time.Millisecond

func newGenerator(s *Simulation) *generatorShell {
	w := s.cfg.Workload
	g := &generatorShell{sim: s, byID: make(map[string]int32, w.Len()), tasks: make([]submission, w.Len()), open: w.Len()}
	for i := range g.tasks {
		g.byID[w.ID(i)] = int32(i)
		g.tasks[i].sched = -1
	}
	g.alive = make([]bool, len(s.schedulers))
	for i := range g.alive {
		g.alive[i] = true
	}
	return g
}

// next puts the arrival of task i on the clock.
func (g *generatorShell) next(i int32) {
	if int(i) == len(g.tasks) {
		return
	}
	m := g.sim.take(noRequest)
	m.stage, m.task = due, i
	g.sim.onHeap(max(0, g.sim.cfg.Workload.Due(int(i))-g.sim.now), m)
}

// arrived submits a task that is due.
func (g *generatorShell) arrived(i int32) {
	g.next(i + 1)
	g.tasks[i].sent = g.sim.now
	g.dispatch(i, g.preferred(i))
}

// preferred is the scheduler of a task's first submission: in turn, or with a share that goes to the first.
func (g *generatorShell) preferred(i int32) int32 {
	n := int32(len(g.sim.schedulers))
	skew := g.sim.cfg.Skew
	if skew == 0 || n == 1 {
		return i % n
	}
	first := func(k int32) int32 { return int32(float64(k) * skew) } // of the first k tasks, how many go to the first scheduler
	if first(i+1) > first(i) {
		return 0
	}
	return 1 + (i-first(i))%(n-1)
}

// dispatch sends a task to the first scheduler from the preferred one on that answers.
func (g *generatorShell) dispatch(i, preferred int32) {
	n := int32(len(g.alive))
	t := &g.tasks[i]
	t.sched = -1
	for k := range n {
		sched := (preferred + k) % n
		if g.alive[sched] {
			t.sched = sched
			t.sends++
			t.times++
			m := g.sim.take(submit)
			m.sched, m.node, m.task, m.origin = sched, -1, i, t.sends
			g.sim.send(m)
			return
		}
	}
	g.idle = append(g.idle, i)
}

// answered takes the answer to a submission; without one, the task goes to another scheduler.
func (g *generatorShell) answered(m *message) {
	t := &g.tasks[m.task]
	if t.ended || !m.failed && m.code == 0 {
		return
	}
	t.times-- // it did not take it
	if t.sends != m.origin {
		return
	}
	i, sched := m.task, m.sched
	t.sched = -1
	if !m.failed {
		g.sim.later(overloadRest, func() {
			if !t.ended {
				g.dispatch(i, sched+1)
			}
		})
		return
	}
	if !g.sim.schedulers[sched].up {
		g.lost(sched)
	}
	g.dispatch(i, sched+1)
}

// lost submits again, elsewhere, what a scheduler had that does not answer any more.
func (g *generatorShell) lost(sched int32) {
	g.alive[sched] = false
	for i := range g.tasks {
		if t := &g.tasks[i]; !t.ended && t.sched == sched {
			g.dispatch(int32(i), sched+1)
		}
	}
}

// found takes note that a scheduler answers again.
func (g *generatorShell) found(sched int32) {
	g.alive[sched] = true
	waiting := g.idle
	g.idle = nil
	for _, i := range waiting {
		g.dispatch(i, sched)
	}
}

// refused ends a task that a scheduler does not take, unless it has it already.
func (g *generatorShell) refused(i int32, refusal *cluster.Refusal) {
	if g.tasks[i].ended || refusal.Code == cluster.DuplicateTask && g.tasks[i].times > 1 {
		return
	}
	row := g.begin(i)
	row.Outcome, row.Reason = cluster.Failed, refusal.Error()
	g.write(i)
}

// ended takes the record of a task from its scheduler. The first one counts.
func (g *generatorShell) ended(r *cluster.TaskRecord) {
	i := g.byID[r.ID]
	if g.tasks[i].ended {
		return
	}
	g.begin(i).Fill(r, 0, int(g.tasks[i].times))
	g.write(i)
}

// abandon ends everything: no result is waited for any more.
func (g *generatorShell) abandon(reason string) {
	for i := range g.tasks {
		if !g.tasks[i].ended {
			row := g.begin(int32(i))
			row.Outcome, row.Reason, row.Attempts = cluster.Lost, reason, int(g.tasks[i].times)
			g.write(int32(i))
		}
	}
}

// begin starts the row of task i.
func (g *generatorShell) begin(i int32) *generator.Row {
	g.row = g.sim.cfg.Workload.NewRow(int(i))
	g.row.Warmup = int(i) < g.sim.cfg.Warmup
	g.row.Sent = g.tasks[i].sent
	return &g.row
}

func (g *generatorShell) write(i int32) {
	g.tasks[i].ended = true
	g.open--
	g.sim.moves++
	g.count.add(g.row.Outcome)
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
}

func (r *Result) add(o cluster.Outcome) { r.Outcomes[o]++ }

// Finished is the number of tasks that finished.
func (r *Result) Finished() int { return r.Outcomes[cluster.Finished] }

// verify checks at the end that every task had exactly one outcome.
func (g *generatorShell) verify() error {
	for i := range g.tasks {
		if !g.tasks[i].ended {
			return fmt.Errorf("task %s never ended", g.sim.cfg.Workload.ID(i))
		}
	}
	total := 0
	for _, n := range g.count.Outcomes {
		total += n
	}
	if total != len(g.tasks) || g.count.Outcomes[cluster.NoOutcome] != 0 {
		return fmt.Errorf("%d outcomes of %d tasks", total, len(g.tasks))
	}
	if slices.Contains(g.alive, true) && len(g.idle) > 0 {
		return fmt.Errorf("%d tasks were never submitted", len(g.idle))
	}
	return nil
}
