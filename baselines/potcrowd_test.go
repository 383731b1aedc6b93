package baselines

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// crowd is many tasks whose probes are out at the same time, and a dumb oracle that remembers what each
// was told.
type crowd struct {
	*rapid.T
	rng       *rand.Rand
	replica   *scheduler.Replica
	open      []scheduler.ProbeCall
	asked     map[string]*ask
	placed    map[string]int // how often
	cancelled int
}

// ask is what one task asked and heard.
type ask struct {
	nodes   []int         // as drawn
	answers map[int]int64 // absent: failed
	open    int
}

// winner is the node that the answers name: NoNode when both probes failed.
func (a *ask) winner() int {
	best := scheduler.NoNode
	for _, i := range a.nodes {
		if n, ok := a.answers[i]; ok && (best == scheduler.NoNode || n < a.answers[best]) {
			best = i
		}
	}
	return best
}

// submit brings the next task; some are cancelled while their probes are out.
func (c *crowd) submit() {
	task := request(len(c.asked))
	actions, refusal := c.replica.Submit(0, "client", task)
	if refusal != nil {
		c.Fatal(refusal)
	}
	a := &ask{answers: map[int]int64{}, open: len(actions.Probe)}
	for _, call := range actions.Probe {
		a.nodes = append(a.nodes, call.Node)
	}
	c.open = append(c.open, actions.Probe...)
	c.asked[task.ID] = a
	if c.rng.IntN(10) == 0 {
		c.replica.Cancel(0, cluster.Everybody, task.ID)
		c.cancelled++
	}
}

// answer brings any of the open answers, or a failure.
func (c *crowd) answer() {
	i := c.rng.IntN(len(c.open))
	call := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	id := call.Task.ID
	a := c.asked[id]
	a.open--
	probe := failed(call)
	if c.rng.IntN(4) > 0 {
		probe = answered(call, int64(c.rng.IntN(3)))
		a.answers[call.Node] = probe.Answer.Tasks
	}
	for _, d := range c.replica.Probed(0, probe).Send {
		if want := a.winner(); d.Assignment.TaskID != id || a.open > 0 || (want != scheduler.NoNode && d.Node != want) {
			c.Fatalf("an answer for task %s (%d still open) sent %s to %d, want %d", id, a.open, d.Assignment.TaskID, d.Node, want)
		}
		c.placed[id]++
	}
}

// PoT never gets stuck: with hundreds of decisions open, answers and failures in any order, and tasks
// cancelled meanwhile, every other task is placed once, when its second answer is in, by its own two
// answers, and no trace of any stays behind.
func TestPoTConcurrentDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pot{rounds: map[*cluster.Task]round{}}
		c := crowd{T: t, rng: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
			replica: newReplica(t, testConfig(), p, equalNodes(rapid.IntRange(2, 30).Draw(t, "nodes"))),
			asked:   map[string]*ask{}, placed: map[string]int{}}
		size := rapid.IntRange(1, 400).Draw(t, "tasks")
		for len(c.asked) < size || len(c.open) > 0 {
			if len(c.open) == 0 || len(c.asked) < size && c.rng.IntN(3) > 0 {
				c.submit()
			} else {
				c.answer()
			}
		}
		if len(c.placed) != size-c.cancelled || len(p.rounds) != 0 {
			t.Fatalf("%d of %d tasks placed with %d cancelled; %d decisions still wait", len(c.placed), size, c.cancelled, len(p.rounds))
		}
		for id, times := range c.placed {
			if times != 1 {
				t.Fatalf("task %s was placed %d times", id, times)
			}
		}
	})
}

// A worker that never answers costs its tasks one deadline; the others go on.
func TestPoTDeadNodeHoldsUpNobody(t *testing.T) {
	p := newPolicy(t, "pot")
	v := viewOf(t, 10, p)
	const dead = 4
	placed, waiting := 0, 0
	for i := range 300 {
		a, b := probesOf(t, p, v, taskOf(i, 1))
		if a.Node == dead || b.Node == dead {
			waiting++
			continue
		}
		p.(scheduler.Prober).Probed(0, answered(b, 1), v)
		placedOn(t, p.(scheduler.Prober).Probed(0, answered(a, 1), v))
		placed++
	}
	if placed+waiting != 300 || waiting == 0 || placed < 200 {
		t.Errorf("%d placed, %d wait for %s", placed, waiting, v.Node(dead).Name)
	}
}
