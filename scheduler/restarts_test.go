package scheduler

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// When several workers restart, or leave, and one roster says so of all of them, what they held is placed
// once that is known of each: every dispatch is for a process that is there, under its own stream's numbers.
func TestManyWorkersRestartAtOnce(t *testing.T) {
	for name, change := range map[string]func(nodes []cluster.Node) []cluster.Node{
		"restart": func(nodes []cluster.Node) []cluster.Node {
			for i := range nodes[:11] {
				nodes[i].Incarnation = 2
			}
			return nodes
		},
		"leave": func(nodes []cluster.Node) []cluster.Node { return nodes[11:] },
		"restart and leave": func(nodes []cluster.Node) []cluster.Node {
			for i := range nodes[:6] {
				nodes[i].Incarnation = 2
			}
			return append(nodes[:6], nodes[11])
		},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := paperNodes(12)
			r := replicaWith(t, testConfig(), paperPolicy(t), append([]cluster.Node(nil), nodes...))
			held := map[string]bool{} // by tasks on workers that go
			for i := range 200 {
				d := submit(t, r, 0, request(fmt.Sprint(i), 1, 1, 1000))
				acknowledge(r, 0, d)
				if d.Node < 11 {
					held[d.Assignment.TaskID] = true
				}
			}
			left := change(nodes)
			actions := noAnswer(r, time.Second, pushed(t, r, time.Second, 2, left))
			last := map[int]int64{11: -int64(count(&actions, 11))}
			if n, ok := r.nodes.at(11, 1); ok {
				last[11] += n.stream.number
			}
			for _, d := range actions.Send {
				n := r.Node(d.Node)
				if d.NodeIncarnation == 0 || d.NodeIncarnation != n.Incarnation {
					t.Fatalf("task %s goes to incarnation %d of %q, which is at %d", d.Assignment.TaskID, d.NodeIncarnation, n.Name, n.Incarnation)
				}
				if d.Assignment.Number != last[d.Node]+1 {
					t.Fatalf("task %s is placement %d on %s after %d", d.Assignment.TaskID, d.Assignment.Number, n.Name, last[d.Node])
				}
				last[d.Node] = d.Assignment.Number
				if !held[d.Assignment.TaskID] {
					t.Fatalf("task %s is placed twice, or had not lost its worker", d.Assignment.TaskID)
				}
				delete(held, d.Assignment.TaskID)
			}
			if len(held) > 0 {
				t.Errorf("%d tasks were not placed again", len(held))
			}
		})
	}
}

// count is how many dispatches go to a node.
func count(actions *Actions, node int) (n int) {
	for i := range actions.Send {
		if actions.Send[i].Node == node {
			n++
		}
	}
	return n
}
