package worker

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Sec. 4.2: "Following standard early-binding, scheduled tasks are admitted only when their requested
// CPU and memory can be reserved against residual server capacity; otherwise, they remain queued."
func TestAdmittedOnlyAgainstResidualCapacity(t *testing.T) {
	for name, second := range map[string]cluster.Shape{"cores": shape(3, 1, 1), "memory": shape(1, 40_000, 1)} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			s := attach(t, n, "s", 1)
			expect(t, "first starts", started(s.enqueue(t, n, 0, "a", shape(6, 30_000, 1))), " a")
			expect(t, "second starts", started(s.enqueue(t, n, 0, "b", second)), "")
			expect(t, "queued", n.Stats(0).Queued, 1)
			expect(t, "after the release", started(finished(n, time.Second, "a")), " b")
		})
	}
}

// ... up to the last millicore and MiB: residual capacity that fits exactly is used.
func TestAdmittedWhenItFitsExactly(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(5.5, 60_000, 1))
	expect(t, "fits exactly", started(s.enqueue(t, n, 0, "b", shape(2.5, 5536, 1))), " b")
	expect(t, "one millicore more", started(s.enqueue(t, n, 0, "c", shape(0.001, 0, 1))), "")
}

// Dodoor's resources have K dimensions; the rule holds in every one of them.
func TestEveryDimensionCounts(t *testing.T) {
	dims, err := cluster.NewDimensions("gpu")
	if err != nil {
		t.Fatal(err)
	}
	gpu, _ := dims.Index("gpu")
	n := newNode(t, func(c *Config) {
		c.Dimensions = dims
		c.Node.Capacity[gpu] = 2500 // no devices
	})
	s := attach(t, n, "s", 1)
	task := shape(0.1, 0, 1)
	task.Demand[gpu] = 1500
	expect(t, "first gpu task", started(s.enqueue(t, n, 0, "a", task)), " a")
	expect(t, "second gpu task", started(s.enqueue(t, n, 0, "b", task)), "")
}

// Sec. 4.2: "Tasks are considered in First-Come First-Served (FCFS) order ..."
func TestFirstComeFirstServed(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for _, id := range []string{"a", "b", "c", "d"} {
		s.enqueue(t, n, 0, id, shape(8, 1, 1))
	}
	for _, want := range []string{"b", "c", "d"} {
		before := string(want[0] - 1)
		expect(t, "after "+before, started(finished(n, time.Second, before)), " "+want)
	}
}

// Sec. 4.2: "... and may execute in parallel up to the node's core-level concurrency limit."
func TestParallelUpToTheSlots(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Node.Slots = 2 })
	s := attach(t, n, "s", 1)
	tiny := shape(0.1, 1, 1)
	expect(t, "first", started(s.enqueue(t, n, 0, "a", tiny)), " a")
	expect(t, "second", started(s.enqueue(t, n, 0, "b", tiny)), " b")
	expect(t, "no slot is free", started(s.enqueue(t, n, 0, "c", tiny)), "")
	expect(t, "a slot is free", started(finished(n, 1, "b")), " c")
}

// A task that demands nothing still takes a slot.
func TestNothingTakesASlot(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Node.Slots = 1 })
	s := attach(t, n, "s", 1)
	expect(t, "first", started(s.enqueue(t, n, 0, "a", cluster.Shape{})), " a")
	expect(t, "second", started(s.enqueue(t, n, 0, "b", cluster.Shape{})), "")
}

// Sec. 4.2: "If the head-of-queue task cannot be admitted, it blocks until active tasks release
// sufficient resources."
func TestTheHeadBlocksTheLine(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "half", shape(4, 1, 1))
	s.enqueue(t, n, 0, "quarter", shape(2, 1, 1))
	s.enqueue(t, n, 0, "large", shape(6, 1, 1))
	expect(t, "a small task behind a large head", started(s.enqueue(t, n, 0, "small", shape(1, 1, 1))), "")
	expect(t, "not enough is released", started(finished(n, 2*time.Second, "quarter")), "")
	expect(t, "enough is released: the head and who fits behind it", started(finished(n, 3*time.Second, "half")), " large small")
	expect(t, "blocked", n.Stats(9*time.Second).Blocked, 3*time.Second)
}

// Blocking is the time during which a head waited, however many heads there were.
func TestBlockedTimeAccumulates(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	whole := shape(8, 1, 1)
	s.enqueue(t, n, 0, "a", whole)
	expect(t, "nobody waits", n.Report(5*time.Second).Blocked, time.Duration(0))
	s.enqueue(t, n, 10*time.Second, "b", whole)
	s.enqueue(t, n, 11*time.Second, "c", whole)
	expect(t, "while blocked", n.Report(12*time.Second).Blocked, 2*time.Second)
	finished(n, 13*time.Second, "a")
	expect(t, "the next head", n.Report(14*time.Second).Blocked, 4*time.Second)
	n.Cancel(15*time.Second, cluster.Everybody, "c", "")
	expect(t, "the line is empty", n.Report(99*time.Second).Blocked, 5*time.Second)
}

// A task that can never fit would block the line for ever: it is refused before it queues, and the
// refusal says what does not fit and brings the node's state.
func TestNeverFitsIsRefused(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(2, 100, 1))
	reply, actions, err := n.Enqueue(0, s.message(n, s.place("big", shape(14, 100, 1)), s.place("fits", shape(1, 100, 1))))
	if err != nil || len(reply.Refused) != 1 {
		t.Fatalf("refused %v, error %v", reply.Refused, err)
	}
	r := reply.Refused[0]
	expect(t, "code and number", []any{r.TaskID, r.Code, r.Number}, []any{"big", cluster.NeverFits, 2})
	for _, part := range []string{"14 cores", "8 cores", "n1"} {
		if !strings.Contains(r.Message, part) {
			t.Errorf("%q does not mention %q", r.Message, part)
		}
	}
	expect(t, "the others go on", started(actions), " fits")
	report := reply.Report
	expect(t, "the report's load: what is held", report.Load, cluster.LoadOf(shape(2, 100, 1)).Add(cluster.LoadOf(shape(1, 100, 1))))
	expect(t, "R: what was received", report.Received, []cluster.Received{{Scheduler: "s", Incarnation: 1, Number: 3, Received: s.placed}})
}

// Sec. 4.2: "On completion, the worker reports updated usage and completed duration to the data
// service."
func TestCompletionReportsUsage(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(8, 1, 30))
	s.enqueue(t, n, time.Second, "b", shape(8, 1, 30))
	actions := finished(n, 31*time.Second, "a")
	expect(t, "report, notify", []any{actions.Report, actions.Notify}, []any{true, []string{"s"}})
	r := n.Report(31 * time.Second)
	expect(t, "load", r.Load, cluster.LoadOf(shape(8, 1, 30)))
	expect(t, "running", []any{r.Running, r.Queued, r.RunningDemand[cluster.Cores]}, []any{1, 0, 8000})
	finished(n, 60*time.Second, "b")
	notice, _ := n.Notice(60*time.Second, "s", 10)
	b := notice.Message.Completions[1]
	expect(t, "wait and run", []time.Duration{b.Wait, b.Run}, []time.Duration{30 * time.Second, 29 * time.Second})
	if r := n.Report(60 * time.Second); !r.Load.IsZero() {
		t.Errorf("load of an idle node: %+v", r.Load)
	}
}
