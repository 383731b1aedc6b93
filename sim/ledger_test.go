package sim

import (
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// observed is a node with two slots, three cores and 4 GiB, as a ledger sees it.
type observed struct{ ledger }

func observe() *observed {
	return &observed{newLedger(&cluster.Node{Name: "n1", Slots: 2, Capacity: cluster.Resources{3000, 4096}})}
}

// accept notes a message that the node took as a whole.
func (o *observed) accept(ids ...string) {
	e := &cluster.Enqueue{}
	for i, id := range ids {
		e.Assignments = append(e.Assignments, cluster.Assignment{Number: int64(i + 1), TaskID: id})
	}
	o.accepted(e, &cluster.EnqueueReply{})
}

func (o *observed) start(id string, demand ...int64) {
	s := worker.Start{TaskID: id}
	copy(s.Shape.Demand[:], demand)
	o.started(&s)
}

func (o *observed) end(demand ...int64) {
	var d cluster.Resources
	copy(d[:], demand)
	o.ended("", &d)
}

// startOn starts a task where there are two devices of the first extra and 2.5 of the second, and gives it some of the first.
func (o *observed) startOn(id string, first, second int64, ids ...string) {
	o.capacity[cluster.FirstExtra], o.capacity[cluster.FirstExtra+1] = 2000, 2500
	o.accept(id)
	s := worker.Start{TaskID: id, Devices: []worker.Assigned{{Dimension: cluster.FirstExtra, Devices: worker.Devices{IDs: ids}}}}
	s.Shape.Demand[cluster.FirstExtra], s.Shape.Demand[cluster.FirstExtra+1] = first, second
	o.started(&s)
}

// A check that cannot fail is worthless: every rule is broken once, and what only looks like it is allowed.
func TestLedger(t *testing.T) {
	for _, c := range []struct {
		name    string
		happens func(o *observed)
		want    string // part of the complaint; "": none
	}{
		{"in order", func(o *observed) {
			o.accept("a", "b", "c")
			o.start("a", 1000)
			o.start("b", 1000)
			o.end(1000)
			o.start("c", 1000)
		}, ""},
		{"all of it", func(o *observed) { o.accept("a", "b"); o.start("a", 1000, 4096); o.start("b", 2000) }, ""},
		{"too many cores", func(o *observed) { o.accept("a", "b"); o.start("a", 2000); o.start("b", 1001) },
			"node n1 overcommits: 2 tasks with [3001"},
		{"too much memory", func(o *observed) { o.accept("a", "b"); o.start("a", 1000, 4000); o.start("b", 1000, 97) }, "overcommits"},
		{"an extra that the node lacks", func(o *observed) { o.accept("a"); o.start("a", 1000, 0, 0, 1) }, "overcommits"},
		{"too many tasks", func(o *observed) { o.accept("a", "b", "c"); o.start("a"); o.start("b"); o.start("c") },
			"3 tasks with [0 0 0 0 0 0 0 0] run on 2 slots"},
		{"released", func(o *observed) { o.accept("a", "b"); o.start("a", 3000); o.end(3000); o.start("b", 3000) }, ""},
		{"overtaking", func(o *observed) { o.accept("a", "b"); o.start("b", 1000); o.start("a", 1000) },
			"node n1 starts task a after a task that arrived later"},
		{"overtaking across messages", func(o *observed) { o.accept("a"); o.accept("b"); o.start("b"); o.start("a") }, "task a after"},
		{"never accepted", func(o *observed) { o.accept("a"); o.start("b") }, "node n1 starts task b, which it never accepted"},
		{"twice", func(o *observed) { o.accept("a", "b"); o.start("a"); o.start("a") }, "which it never accepted"},
		{"twice, the line being empty", func(o *observed) { o.accept("a"); o.start("a"); o.start("a") }, "which it never accepted"},
		{"refused", func(o *observed) {
			e := &cluster.Enqueue{Assignments: []cluster.Assignment{{Number: 1, TaskID: "a"}, {Number: 2, TaskID: "b"}}}
			o.accepted(e, &cluster.EnqueueReply{Refused: []cluster.Refusal{{Number: 1}}})
			o.start("b")
			o.start("a")
		}, "task a, which it never accepted"},
		{"cancelled before it started", func(o *observed) { o.accept("a", "b", "c"); o.start("b"); o.start("c") }, ""},
		{"placed twice", func(o *observed) { o.accept("a", "b", "a", "c"); o.start("a"); o.start("b"); o.end(); o.start("c") }, ""},
		{"placed again after it was given up", func(o *observed) { o.accept("a"); o.start("a"); o.end(); o.accept("a"); o.start("a") }, ""},
		{"a device each", func(o *observed) { o.startOn("a", 1000, 1250, "x"); o.startOn("b", 1000, 1250, "y") }, ""},
		{"parts of one", func(o *observed) { o.startOn("a", 400, 0, "x"); o.startOn("b", 600, 0, "x") }, ""},
		{"too many parts of one", func(o *observed) { o.startOn("a", 400, 0, "x"); o.startOn("b", 601, 0, "x") },
			"gives task b device x, of which 1001 thousandths are in use then"},
		{"one for two", func(o *observed) { o.startOn("a", 1000, 0, "x"); o.startOn("b", 1000, 0, "x") }, "gives task b device x"},
		{"one twice", func(o *observed) { o.startOn("a", 2000, 0, "x", "x") }, "gives task a device x"},
		{"too few", func(o *observed) { o.startOn("a", 2000, 0, "x") }, "gives task a the devices [\"x\"] for a demand of 2000"},
		{"none", func(o *observed) { o.startOn("a", 500, 0) }, "gives task a the devices [] for a demand of 500"},
		{"split", func(o *observed) { o.startOn("a", 1500, 0, "x", "y") }, "for a demand of 1500"},
		{"more than there are", func(o *observed) {
			o.startOn("", 1000, 0, "x")
			o.end(0, 0, 0, 1000)
			o.startOn("b", 500, 0, "y")
			o.startOn("c", 500, 0, "z")
		}, "gives task c device z, and has only 2"},
		{"released devices", func(o *observed) {
			o.startOn("", 2000, 0, "x", "y")
			o.end(0, 0, 0, 2000)
			o.startOn("b", 1000, 0, "y")
		}, ""},
		{"the first complaint counts", func(o *observed) { o.start("a"); o.accept("b"); o.start("b", 9000) }, "task a, which it never accepted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := observe()
			c.happens(o)
			switch {
			case c.want == "" && o.problem != nil:
				t.Errorf("complains: %v", o.problem)
			case c.want != "" && (o.problem == nil || !strings.Contains(o.problem.Error(), c.want)):
				t.Errorf("complains %v, want %q", o.problem, c.want)
			}
		})
	}
}

func TestShareOfANode(t *testing.T) {
	o := observe()
	o.accept("a", "b")
	for _, step := range []struct {
		happens func()
		want    float64
	}{{func() {}, 0}, {func() { o.start("a", 1500, 4096) }, 0.5}, {func() { o.start("b", 1500) }, 1}, {func() { o.end(1500, 4096) }, 0.5},
		{func() { o.end(1500) }, 0}} {
		if step.happens(); o.share() != step.want {
			t.Errorf("share %v, want %v", o.share(), step.want)
		}
	}
}
