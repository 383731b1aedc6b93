package worker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// testConfig is an m510-like node: 8 cores, 64 GiB, 8 slots.
func testConfig() Config {
	return Config{
		Node: cluster.Node{Name: "n1", Address: "n1:1", Class: "m510", Slots: 8, Incarnation: 7,
			Capacity: cluster.Resources{cluster.Cores: 8000, cluster.Memory: 65536}},
		Dimensions: cluster.Standard(),
		Types: []cluster.TaskType{
			{Name: "simulated", Executor: "sleep"},
			{Name: "real", Executor: "stress-ng", Argv: []string{"--quiet"}},
			{Name: "boxed", Executor: "docker"},
			{Name: "float", Executor: "sleep", Argv: []string{"float.py"},
				Modes: []cluster.Mode{{Name: "short", Argv: []string{"100"}}, {Name: "long"}}},
		},
		Executors: []Executor{{"sleep", true}, {"stress-ng", false}},
		Limits:    DefaultLimits(), Reestimate: true,
	}
}

func newNode(t testing.TB, change ...func(*Config)) *Node {
	t.Helper()
	cfg := testConfig()
	for _, c := range change {
		c(&cfg)
	}
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// shape is cores, MiB and seconds.
func shape(cores float64, memory, seconds int64) cluster.Shape {
	return cluster.Shape{Demand: cluster.Resources{int64(cores * 1000), memory}, Duration: seconds * 1000}
}

// client is a scheduler's end of a stream: it numbers and sums placements.
type client struct {
	ref    cluster.SchedulerRef
	number int64
	placed cluster.Load
}

func attach(t testing.TB, n *Node, name string, incarnation int64) *client {
	t.Helper()
	c := &client{ref: cluster.SchedulerRef{Name: name, Address: name + ":1", Incarnation: incarnation}}
	if _, _, err := n.Attach(0, c.ref); err != nil {
		t.Fatal(err)
	}
	return c
}

// place makes the next placement of c.
func (c *client) place(id string, s cluster.Shape) cluster.Assignment {
	c.number++
	c.placed = c.placed.Add(cluster.LoadOf(s))
	return cluster.Assignment{Number: c.number, TaskID: id, Type: "simulated", Shape: s, TimeScale: 1}
}

// message is the enqueue that carries placements, at the state of the stream now.
func (c *client) message(n *Node, a ...cluster.Assignment) *cluster.Enqueue {
	return &cluster.Enqueue{Scheduler: c.ref, NodeIncarnation: n.cfg.Node.Incarnation, Number: c.number, Placed: c.placed, Assignments: a}
}

// enqueue places one task and fails the test when it is refused.
func (c *client) enqueue(t testing.TB, n *Node, now time.Duration, id string, s cluster.Shape) Actions {
	t.Helper()
	reply, actions, err := n.Enqueue(now, c.message(n, c.place(id, s)))
	if err != nil || len(reply.Refused) > 0 {
		t.Fatalf("enqueue %s: refused %v, error %v", id, reply.Refused, err)
	}
	return actions
}

func finished(n *Node, now time.Duration, id string) Actions {
	return n.Finished(now, id, Result{Outcome: cluster.Finished})
}

func started(s Actions) string {
	list := ""
	for _, start := range s.Start {
		list += " " + start.TaskID
	}
	return list
}

func expect(t interface {
	Helper()
	Errorf(string, ...any)
}, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}

// withGPUs makes a node have GPUs of these ids.
func withGPUs(ids ...string) func(*Config) {
	return func(c *Config) {
		dims, err := cluster.NewDimensions("gpu")
		if err != nil {
			panic(err)
		}
		c.Dimensions, c.Devices = dims, map[string]Devices{"gpu": {IDs: ids, Variable: "CUDA_VISIBLE_DEVICES", Driver: "nvidia"}}
		c.Node.Capacity[cluster.FirstExtra] = int64(len(ids)) * 1000
	}
}

// onGPUs is a shape with a demand of GPUs.
func onGPUs(s cluster.Shape, gpus float64) cluster.Shape {
	s.Demand[cluster.FirstExtra] = int64(gpus * 1000)
	return s
}

// handed lists the devices of an execution.
func handed(devices []Assigned) string {
	list := ""
	for _, d := range devices {
		if len(d.IDs) > 0 {
			list += " with " + d.Extra + " " + strings.Join(d.IDs, ",")
		}
	}
	return list
}
