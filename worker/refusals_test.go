package worker

import (
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*cluster.Assignment)
		want cluster.RefusalCode
	}{
		{"unknown type", func(a *cluster.Assignment) { a.Type = "x" }, cluster.UnknownType},
		{"unknown mode", func(a *cluster.Assignment) { a.Type, a.Mode = "float", "huge" }, cluster.UnknownMode},
		{"no such executor", func(a *cluster.Assignment) { a.Type = "boxed" }, cluster.Unsupported},
		{"scaled real work", func(a *cluster.Assignment) { a.Type, a.TimeScale = "real", 2 }, cluster.Unsupported},
		{"no id", func(a *cluster.Assignment) { a.TaskID = "" }, cluster.InvalidTask},
		{"negative demand", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Memory] = -1 }, cluster.InvalidTask},
		{"absurd demand", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Cores] = cluster.MaxAmount + 1 }, cluster.InvalidTask},
		{"unnamed dimension", func(a *cluster.Assignment) { a.Shape.Demand[5] = 1 }, cluster.InvalidTask},
		{"negative estimate", func(a *cluster.Assignment) { a.Shape.Duration = -1 }, cluster.InvalidTask},
		{"absurd estimate", func(a *cluster.Assignment) { a.Shape.Duration = cluster.MaxDuration + 1 }, cluster.InvalidTask},
		{"time stands still", func(a *cluster.Assignment) { a.TimeScale = 0 }, cluster.InvalidTask},
		{"no disk here", func(a *cluster.Assignment) { a.Shape.Demand[cluster.Disk] = 1 }, cluster.NeverFits},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t)
			s := attach(t, n, "s", 1)
			a := s.place("t", shape(1, 1, 1))
			c.edit(&a)
			reply, _, err := n.Enqueue(0, s.message(n, a))
			if err != nil || len(reply.Refused) != 1 || reply.Refused[0].Code != c.want || reply.Report == nil {
				t.Fatalf("%+v, %v; want %v with a report", reply, err, c.want)
			}
			idle(t, n)
		})
	}
}

func TestQueueIsBounded(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Limits.MaxQueue = 2 })
	s := attach(t, n, "s", 1)
	whole := shape(8, 1, 1)
	reply, actions, _ := n.Enqueue(0, s.message(n, s.place("runs", whole), s.place("waits", whole), s.place("too", whole),
		s.place("no", whole), s.place("neither", whole)))
	expect(t, "started", started(actions), " runs")
	expect(t, "refused", len(reply.Refused), 2)
	if !strings.Contains(reply.Refused[0].Message, "2 tasks waiting") {
		t.Errorf("unclear: %s", reply.Refused[0].Message)
	}
}
