package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

func TestStartSaysWhatToRun(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Limits.TimeoutFactor = 3 })
	s := attach(t, n, "s", 1)
	a := s.place("t", shape(2, 100, 10))
	a.Type, a.Mode, a.TimeScale = "float", "small", 100
	_, actions, _ := n.Enqueue(0, s.message(n, a))
	expect(t, "start", actions.Start, []Start{{TaskID: "t", Type: "float", Mode: "short", Executor: "sleep", Argv: []string{"float.py", "100"},
		Shape: shape(2, 100, 10), TimeScale: 100, Seed: cluster.HashID("t"), Timeout: 300 * time.Millisecond, Attempt: 1}})
}

func TestEstimatesEndNothingUnlessAsked(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	expect(t, "no timeout", s.enqueue(t, n, 0, "t", shape(1, 1, 1)).Start[0].Timeout, time.Duration(0))
	n = newNode(t, func(c *Config) { c.Limits.TimeoutFactor = 2 })
	s = attach(t, n, "s", 1)
	expect(t, "no estimate", s.enqueue(t, n, 0, "t", shape(1, 1, 0)).Start[0].Timeout, time.Duration(0))
}

func TestForcedExecutor(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Executor = "sleep" })
	s := attach(t, n, "s", 1)
	for _, kind := range []string{"real", "boxed"} {
		a := s.place(kind, shape(1, 1, 1))
		a.Type, a.TimeScale = kind, 50
		_, actions, _ := n.Enqueue(0, s.message(n, a))
		expect(t, kind, []any{len(actions.Start), actions.Start[0].Executor}, []any{1, "sleep"})
	}
}

func TestCancel(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for _, id := range []string{"runs", "head", "middle", "last"} {
		s.enqueue(t, n, 0, id, shape(7, 1, 1))
	}
	s.enqueue(t, n, 0, "small", shape(1, 1, 1))
	actions, ok := n.Cancel(1, cluster.Everybody, "middle", "")
	expect(t, "queued", []any{ok, actions.Kill, actions.Notify, actions.Report}, []any{true, []string{}, []string{"s"}, true})
	actions, ok = n.Cancel(1, cluster.Everybody, "runs", "")
	expect(t, "running", []any{ok, actions.Kill, actions.Notify}, []any{true, []string{"runs"}, []string{}})
	_, ok = n.Cancel(1, cluster.Everybody, "nobody", "")
	expect(t, "unknown", ok, false)
	actions = n.Finished(2, "runs", Result{Outcome: cluster.Cancelled, Reason: "killed"})
	expect(t, "the line moves", started(actions), " head")
	_, ok = n.Cancel(2, cluster.Everybody, "runs", "")
	expect(t, "ended", ok, false)
	actions, _ = n.Cancel(3, cluster.Everybody, "last", "")
	expect(t, "what stood behind a cancelled head", started(actions), " small")
	done := notice(t, n, "s")
	outcomes := ""
	for _, c := range done.Message.Completions {
		outcomes += fmt.Sprintf(" %s:%s:%v:%v", c.TaskID, c.Outcome, c.Wait, c.Run)
	}
	expect(t, "completions", outcomes, " middle:cancelled:1ns:0s runs:cancelled:0s:2ns last:cancelled:3ns:0s")
}

func TestDrain(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "runs", shape(8, 1, 1))
	s.enqueue(t, n, 0, "waits", shape(8, 1, 1))
	expect(t, "report", []bool{n.Drain(true).Report, n.Drain(true).Report}, []bool{true, false})
	reply, _, _ := n.Enqueue(0, s.message(n, s.place("new", shape(1, 1, 1))))
	expect(t, "refused", []any{codes(reply), reply.Report.Draining}, []any{" 3=node draining", true})
	expect(t, "what it holds goes on", started(finished(n, 1, "runs")), " waits")
	n.Drain(false)
	reply, _, _ = n.Enqueue(0, s.message(n, s.place("new", shape(1, 1, 1))))
	expect(t, "open again", codes(reply), "")
}

// A node that shuts down gives up what waits at once and what runs later; both end as lost, so that
// their schedulers place them again.
func TestAbandon(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for _, id := range []string{"r1", "w1", "w2"} {
		s.enqueue(t, n, 0, id, shape(8, 1, 1))
	}
	actions, count := n.AbandonQueued(time.Second, "node n1 shuts down")
	expect(t, "queued", []any{count, actions.Kill, actions.Notify, n.Stats(0).Draining}, []any{2, []string{}, []string{"s"}, true})
	actions, count = n.Abandon(2*time.Second, "node n1 shuts down")
	expect(t, "running", []any{count, actions.Kill}, []any{1, []string{"r1"}})
	expect(t, "the killed execution's end comes too late", n.Finished(3*time.Second, "r1", Result{Outcome: cluster.Finished}), Actions{})
	done := notice(t, n, "s")
	for i, want := range []string{"w1", "w2", "r1"} {
		c := done.Message.Completions[i]
		expect(t, "completion", []any{c.TaskID, c.Outcome, c.Reason, c.Run > 0}, []any{want, cluster.Lost, "node n1 shuts down", want == "r1"})
	}
	n.Drain(false)
	expect(t, "placed again here: run again", started(s.enqueue(t, n, 4*time.Second, "r1", shape(8, 1, 1))), " r1")
	n.Acknowledged(&done)
	finished(n, 5*time.Second, "r1")
	done = notice(t, n, "s")
	expect(t, "its own end", []any{len(done.Message.Completions), done.Message.Completions[0].Outcome}, []any{1, cluster.Finished})
	n.Acknowledged(&done)
	idle(t, n)
}

func TestCompletionsAreBoundedAndExpire(t *testing.T) {
	n := newNode(t, func(c *Config) { c.Limits.RetainResults, c.Limits.RetainFor = 3, time.Minute })
	s := attach(t, n, "s", 1)
	for i := range 5 {
		id := fmt.Sprint(i)
		s.enqueue(t, n, 0, id, shape(1, 1, 1))
		finished(n, time.Duration(i)*time.Second, id)
	}
	done := notice(t, n, "s")
	expect(t, "an attached scheduler gets them all", len(done.Message.Completions), 5)
	attach(t, n, "s", 2)
	expect(t, "of a replaced one the newest are kept", n.Stats(0).Unacknowledged, 3)
	expect(t, "too young", n.Expire(time.Minute+time.Second), 0)
	expect(t, "expired", n.Expire(time.Minute+3*time.Second), 2)
	expect(t, "dropped in all", n.Stats(0).Counts.Dropped, 4)
	n.Expire(time.Hour)
	idle(t, n)
}

func TestNoticesAreBatches(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for _, id := range []string{"a", "b", "c"} {
		s.enqueue(t, n, 0, id, shape(1, 1, 1))
		finished(n, 1, id)
	}
	first, _ := n.Notice(1, "s", 2)
	repeated, _ := n.Notice(1, "s", 2)
	expect(t, "until acknowledged", repeated.Message.Completions, first.Message.Completions)
	n.Acknowledged(&first)
	n.Acknowledged(&repeated)
	second, _ := n.Notice(1, "s", 2)
	expect(t, "the rest", []any{len(second.Message.Completions), second.Message.Completions[0].TaskID}, []any{1, "c"})
	n.Acknowledged(&second)
	if _, ok := n.Notice(1, "s", 2); ok {
		t.Error("a notice about nothing")
	}
	idle(t, n)
}

func TestTasks(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	for _, id := range []string{"a", "b", "c"} {
		s.enqueue(t, n, 0, id, shape(8, 1, 1))
	}
	n.Finished(time.Second, "a", Result{Outcome: cluster.Failed, ExitCode: 2, Reason: "no space"})
	var phases []string
	for _, status := range n.Tasks(cluster.TaskQuery{Max: 10}) {
		phases = append(phases, status.ID+":"+status.Phase.String()+":"+status.Scheduler)
	}
	slices.Sort(phases)
	expect(t, "all", phases, []string{"a:ended:s", "b:running:s", "c:queued:s"})
	first := n.Tasks(cluster.TaskQuery{Max: 2})
	expect(t, "bounded", len(first), 2)
	second := n.Tasks(cluster.TaskQuery{Max: 2, After: first[1].ID})
	expect(t, "the page behind", []any{len(second), second[0].ID != first[0].ID && second[0].ID != first[1].ID}, []any{1, true})
	expect(t, "the last page", len(n.Tasks(cluster.TaskQuery{Max: 2, After: second[0].ID})), 0)
	expect(t, "by ids", ids(n.Tasks(cluster.TaskQuery{IDs: []string{"c", "x", "a"}})), []string{"c", "a"})
	expect(t, "unknown", len(n.Tasks(cluster.TaskQuery{ID: "x"})), 0)
	r := n.Tasks(cluster.TaskQuery{ID: "a"})[0].Record
	expect(t, "record", []any{r.Outcome, r.ExitCode, r.Reason, r.Run, r.Worker, r.Class},
		[]any{cluster.Failed, 2, "no space", time.Second, "n1", "m510"})
}

func ids(tasks []cluster.TaskStatus) (ids []string) {
	for i := range tasks {
		ids = append(ids, tasks[i].ID)
	}
	return ids
}

func TestProbe(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	expect(t, "idle", n.Probe(0), cluster.ProbeReply{Latency: -1})
	s.enqueue(t, n, 0, "a", shape(8, 1, 3))
	s.enqueue(t, n, 0, "b", shape(8, 1, 4))
	expect(t, "queued included", n.Probe(0), cluster.ProbeReply{Tasks: 2, Pending: 7000, Latency: -1})
	finished(n, 5*time.Second, "a")
	expect(t, "the nearest that was seen", n.Probe(0), cluster.ProbeReply{Tasks: 1, Pending: 4000, Latency: 5 * time.Second})
	finished(n, 9*time.Second, "b")
	expect(t, "alone", n.Probe(0).Latency, 5*time.Second)
	s.enqueue(t, n, 9*time.Second, "c", shape(8, 1, 3))
	expect(t, "with one other", n.Probe(0).Latency, 9*time.Second)
}

func TestNewRefusesNonsense(t *testing.T) {
	for want, edit := range map[string]func(*Config){
		"no name":          func(c *Config) { c.Node.Name = "" },
		"0 slots":          func(c *Config) { c.Node.Slots = 0 },
		"incarnation 0":    func(c *Config) { c.Node.Incarnation = 0 },
		"no cores":         func(c *Config) { c.Node.Capacity[cluster.Cores] = 0 },
		"out of range":     func(c *Config) { c.Node.Capacity[cluster.Memory] = -1 },
		"dimension 6":      func(c *Config) { c.Node.Capacity[6] = 1 },
		"max queue 0":      func(c *Config) { c.Limits.MaxQueue = 0 },
		"retains 0":        func(c *Config) { c.Limits.RetainResults = 0 },
		"for 0s":           func(c *Config) { c.Limits.RetainFor = 0 },
		"timeout factor":   func(c *Config) { c.Limits.TimeoutFactor = -1 },
		"no task types":    func(c *Config) { c.Types, c.Executors = nil, nil },
		"defined twice":    func(c *Config) { c.Types = append(c.Types, c.Types[0]) },
		"names no":         func(c *Config) { c.Types[0].Executor = "" },
		`"lxc" does not`:   func(c *Config) { c.Executor = "lxc" },
		"sleep, stress-ng": func(c *Config) { c.Executor = "lxc" },
	} {
		cfg := testConfig()
		edit(&cfg)
		_, err := New(cfg)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestAnExecutorWithoutOutcomeFailed(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(1, 1, 1))
	n.Finished(1, "a", Result{Outcome: 77})
	done := notice(t, n, "s")
	expect(t, "outcome", done.Message.Completions[0].Outcome, cluster.Failed)
}
