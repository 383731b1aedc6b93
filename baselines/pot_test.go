package baselines

import (
	"slices"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// probesOf submits t to a PoT policy and returns the two probes it asks for.
func probesOf(t fataler, p scheduler.Policy, v *scheduler.View, task *cluster.Task) (first, second scheduler.ProbeCall) {
	t.Helper()
	s := p.Submit(0, task, v)
	if len(s.Place) != 0 || len(s.Probe) != 2 {
		t.Fatalf("%d placements and %d probes; PoT asks two nodes before it places", len(s.Place), len(s.Probe))
	}
	return s.Probe[0], s.Probe[1]
}

func answered(call scheduler.ProbeCall, n int64) scheduler.Probe {
	return scheduler.Probe{Task: call.Task, Node: call.Node, Answer: tasks(n)}
}

func failed(call scheduler.ProbeCall) scheduler.Probe {
	return scheduler.Probe{Task: call.Task, Node: call.Node, Failed: true}
}

// "standard power-of-two scheduling with online probing before each decision" (Sec. 6.1): the node with
// fewer tasks wins, a tie goes to the first drawn, whichever answer comes first.
func TestPaperPoTTakesTheShorterQueue(t *testing.T) {
	for _, c := range []struct {
		first, second int64
		want          int
	}{{3, 5, 0}, {5, 3, 1}, {4, 4, 0}} {
		for _, reversed := range []bool{false, true} {
			p := newPolicy(t, "pot")
			v := viewOf(t, 10, p)
			a, b := probesOf(t, p, v, unit(1))
			answers := []scheduler.Probe{answered(a, c.first), answered(b, c.second)}
			if reversed {
				slices.Reverse(answers)
			}
			if s := p.(scheduler.Prober).Probed(0, answers[0], v); len(s.Place) != 0 {
				t.Fatal("placed after one answer; the decision waits for both")
			}
			want := []int{a.Node, b.Node}[c.want]
			if got := placedOn(t, p.(scheduler.Prober).Probed(0, answers[1], v)); got != want {
				t.Errorf("N = %d and %d (reversed %v): placed on node %d, want %d", c.first, c.second, reversed, got, want)
			}
		}
	}
}

// The candidates are the two that every two-choice policy draws for this task: runs are comparable.
func TestPoTProbesTheTasksOwnCandidates(t *testing.T) {
	p := newPolicy(t, "pot")
	v := viewOf(t, 100, p)
	for i := range 200 {
		task := unit(i)
		draws := v.Draws(task)
		first, _ := v.Draw(task, draws, scheduler.NoNode)
		second, _ := v.Draw(task, draws, first)
		if a, b := probesOf(t, p, v, task); a.Node != first || b.Node != second {
			t.Fatalf("task %d: probes %d and %d, the first draws are %d and %d", i, a.Node, b.Node, first, second)
		}
	}
}

func TestPoTProbeThatFailsLeavesTheOther(t *testing.T) {
	for i := range 50 {
		p := newPolicy(t, "pot")
		v := viewOf(t, 10, p)
		a, b := probesOf(t, p, v, unit(i))
		dead, alive := a, b
		if i%2 == 0 {
			dead, alive = b, a
		}
		p.(scheduler.Prober).Probed(0, failed(dead), v)
		if got := placedOn(t, p.(scheduler.Prober).Probed(0, answered(alive, 1000), v)); got != alive.Node {
			t.Fatalf("placed on node %d, want %d, the only one that answered", got, alive.Node)
		}
	}
}

func TestPoTWithoutAnswersIsRandom(t *testing.T) {
	const nodes, n = 5, 5000
	p := newPolicy(t, "pot")
	v := viewOf(t, nodes, p)
	counts := make([]int, nodes)
	for i := range n {
		a, b := probesOf(t, p, v, unit(i))
		p.(scheduler.Prober).Probed(0, failed(b), v)
		counts[placedOn(t, p.(scheduler.Prober).Probed(0, failed(a), v))]++
	}
	for node, count := range counts {
		if count < n/nodes-170 || count > n/nodes+170 { // 6 standard deviations of a binomial(5000, 0.2)
			t.Errorf("node %d got %d of %d tasks; uniform is %d", node, count, n, n/nodes)
		}
	}
}

// A node that left while it was probed is out, whatever it answered, and so is another worker that took
// over its index.
func TestPoTNodeThatLeftIsOut(t *testing.T) {
	p := newPolicy(t, "pot")
	nodes := equalNodes(10)
	r := newReplica(t, testConfig(), p, nodes)
	a, b := probesOf(t, p, r.View(), unit(1))
	rest := slices.Clone(nodes)
	rest[a.Node] = node("newcomer", 8)
	leave(r, push(t, r, 2, slices.Delete(slices.Clone(nodes), a.Node, a.Node+1), nil, nil))
	push(t, r, 3, rest, nil, nil)
	if got := r.View().Node(a.Node).Name; got != "newcomer" {
		t.Fatalf("index %d holds %s", a.Node, got)
	}
	p.(scheduler.Prober).Probed(0, answered(a, 0), r.View())
	if got := placedOn(t, p.(scheduler.Prober).Probed(0, answered(b, 9), r.View())); got != b.Node {
		t.Errorf("placed on node %d; node %d left, node %d answered", got, a.Node, b.Node)
	}
}

// When every node has left, the replica keeps the task until one appears.
func TestPoTTaskOutlivesEveryNode(t *testing.T) {
	p := newPolicy(t, "pot")
	r := newReplica(t, testConfig(), p, equalNodes(2))
	actions, refusal := r.Submit(0, "client", request(1))
	if refusal != nil {
		t.Fatal(refusal)
	}
	calls := slices.Clone(actions.Probe)
	leave(r, push(t, r, 2, nil, nil, nil))
	for _, call := range calls {
		if sent := r.Probed(0, failed(call)).Send; len(sent) != 0 {
			t.Fatalf("sent to %d, which left", sent[0].Node)
		}
	}
	actions = push(t, r, 3, equalNodes(1), nil, nil)
	if len(actions.Send) != 1 || r.Pending() != 1 {
		t.Errorf("%d dispatches, %d pending after a node came back; want the task on it", len(actions.Send), r.Pending())
	}
}
