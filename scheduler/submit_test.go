package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Wrong submissions are refused with a code and a reason that names what is wrong; nothing is kept.
func TestRefusals(t *testing.T) {
	cfg := testConfig()
	cfg.Types = append(cfg.Types, cluster.TaskType{Name: "f", Modes: []cluster.Mode{{Name: "short",
		PerClass: map[string]cluster.Shape{"m510": {Demand: cores(4), Duration: 100}}}}})
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(100))
	submit(t, r, 0, request("taken", 1, 10, 100))
	noDuration := request("x", 1, 10, 100)
	noDuration.Duration = nil
	for _, c := range []struct {
		spec *cluster.TaskSpec
		code cluster.RefusalCode
		says []string
	}{
		{request("taken", 1, 10, 100), cluster.DuplicateTask, []string{"s1"}},
		{&cluster.TaskSpec{ID: "x", Type: "g"}, cluster.UnknownType, []string{`"g"`, "f, simulated"}},
		{&cluster.TaskSpec{ID: "x", Type: "f", Mode: "huge"}, cluster.UnknownMode, []string{`"huge"`, "short"}},
		{noDuration, cluster.InvalidTask, []string{"duration"}},
		{request("x", 1e6, 10, 100), cluster.NoFeasibleNode, []string{"1e+06 cores", "28 cores"}},
		{request("x", 1, 1<<30, 100), cluster.NoFeasibleNode, []string{"memory", "131072 MiB"}},
	} {
		actions, refusal := r.Submit(0, "client", c.spec)
		if refusal == nil || refusal.Code != c.code {
			t.Errorf("%+v: refusal %v, want code %v", c.spec, refusal, c.code)
			continue
		}
		for _, text := range c.says {
			if !strings.Contains(refusal.Message, text) {
				t.Errorf("refusal %q does not say %q", refusal.Message, text)
			}
		}
		if len(actions.Send) != 0 {
			t.Errorf("%q: a refused task was dispatched", refusal.Message)
		}
	}
	if r.Pending() != 1 || len(r.tasks) != 1 {
		t.Errorf("%d tasks pending, %d kept; want the one that was accepted", r.Pending(), len(r.tasks))
	}
}

func TestNoWorkers(t *testing.T) {
	r, err := New(testConfig(), paperPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, refusal := r.Submit(0, "c", request("a", 1, 1, 1)); refusal == nil || refusal.Code != cluster.NoFeasibleNode {
		t.Errorf("refusal %v: want no feasible node", refusal)
	}
}

// The profile's figures hold on the classes it knows, the submission's own on the others.
func TestProfileAndOwnFigures(t *testing.T) {
	cfg := testConfig()
	cfg.Types = append(cfg.Types, cluster.TaskType{Name: "f", Modes: []cluster.Mode{{Name: "short",
		PerClass: map[string]cluster.Shape{"m510": {Demand: cores(4), Duration: 100}}}}})
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(100))
	seen := map[string]int64{}
	for i := range 200 {
		own := request(fmt.Sprint(i), 7, 10, 900)
		own.Type, own.Mode = "f", "short"
		d := submit(t, r, 0, own)
		seen[r.Node(d.Node).Class] = d.Assignment.Shape.Duration
	}
	for class, duration := range seen {
		if want := map[bool]int64{true: 100, false: 900}[class == "m510"]; duration != want {
			t.Errorf("class %s: %d ms, want %d", class, duration, want)
		}
	}
	if len(seen) != 4 {
		t.Errorf("placed on classes %v, want all four", seen)
	}
	only := &cluster.TaskSpec{ID: "p", Type: "f", Mode: "short"}
	if d := submit(t, r, 0, only); r.Node(d.Node).Class != "m510" {
		t.Errorf("without own figures the task runs only where the profile knows it, not on %s", r.Node(d.Node).Class)
	}
}

// Retained results are bounded in number and age, and an uncollected one is never pushed out: new work
// is refused instead.
func TestRetainedResultsAreBounded(t *testing.T) {
	cfg := testConfig()
	cfg.RetainResults, cfg.RetainFor = 10, time.Minute
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(3))
	for i := range 10 {
		finish(t, r, 0, submit(t, r, 0, request(fmt.Sprint(i), 1, 10, 100)), cluster.Finished)
	}
	if err := r.Admit("", "client", 1); !errors.Is(err, cluster.Overloaded) {
		t.Errorf("admitted (%v) though nobody collects", err)
	}
	records, cursor := collectAll(t, r, 0)
	collectAll(t, r, cursor)
	if err := r.Admit("", "client", 1); len(records) != 10 || err != nil {
		t.Errorf("%d records; after collecting: %v", len(records), err)
	}
	for i := 10; i < 100000; i++ {
		finish(t, r, 0, submit(t, r, 0, request(fmt.Sprint(i), 1, 10, 100)), cluster.Finished)
		_, cursor, _ = r.Collect(nil, &cluster.CollectRequest{Client: "client", After: cursor, Max: 100})
		r.Tick(0)
	}
	collectAll(t, r, cursor)
	r.Tick(0)
	if n := r.results.len(); n > 10 || len(r.results.byID) != n || len(r.tasks) != 0 || r.pending != 0 {
		t.Errorf("%d results, %d by id, %d tasks left after 100,000", n, len(r.results.byID), len(r.tasks))
	}
	r.Tick(2 * time.Minute)
	if r.results.len() != 0 || len(r.results.clients) != 0 || len(r.results.byID) != 0 {
		t.Errorf("results outlived their time: %d, %d clients", r.results.len(), len(r.results.clients))
	}
}

// A cursor from before a restart must not acknowledge results unread, whether this process has given so many or not.
func TestForeignCursors(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	finish(t, r, 0, submit(t, r, 0, request("a", 1, 10, 100)), cluster.Finished)
	foreign := cluster.CollectRequest{Client: "client", After: 5000, Max: 10}
	if _, _, err := r.Collect(nil, &foreign); !errors.Is(err, cluster.Invalid) {
		t.Errorf("cursor 5000: %v, want invalid", err)
	}
	for _, after := range []int64{1, 5000} {
		foreign.After, foreign.Incarnation = after, r.cfg.Incarnation+1
		if records, cursor, err := r.Collect(nil, &foreign); err != nil || len(records) != 1 || cursor != 1 {
			t.Errorf("cursor %d of another process: %d records up to %d, error %v; want the unread one", after, len(records), cursor, err)
		}
	}
	if records, _ := collectAll(t, r, 0); len(records) != 1 {
		t.Errorf("%d records, want the unread one", len(records))
	}
}

func TestCancel(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	d := submit(t, r, 0, request("a", 1, 10, 100))
	if actions, found := r.Cancel(0, cluster.Everybody, "a"); !found || len(actions.Cancel) != 0 {
		t.Errorf("the worker may not hold the task yet: %+v", actions)
	}
	if actions := r.Acknowledged(0, []Dispatch{d}, &cluster.EnqueueReply{}); len(actions.Cancel) != 1 {
		t.Errorf("actions %+v: the wanted cancel must follow the acknowledgement", actions)
	}
	finish(t, r, 0, d, cluster.Cancelled)
	if _, found := r.Cancel(0, cluster.Everybody, "a"); found {
		t.Error("an ended task was found")
	}
}

func TestDrainingAndOverload(t *testing.T) {
	cfg := testConfig()
	cfg.MaxPending = 2
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(2))
	submit(t, r, 0, request("a", 1, 10, 100))
	if err := r.Admit("", "client", 2); !errors.Is(err, cluster.Overloaded) {
		t.Errorf("third task: %v, want overloaded", err)
	}
	r.Draining()
	if err := r.Admit("", "client", 1); !errors.Is(err, cluster.Draining) {
		t.Errorf("%v, want draining", err)
	}
}

// Who is not admitted learns when to come back: later, the more room is missing.
func TestWhenToComeBack(t *testing.T) {
	cfg := testConfig()
	cfg.MaxPending = 2
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(2))
	for n, want := range map[int]time.Duration{2: 0, 3: roomAfter, 4: roomAfter + time.Millisecond, 1 << 20: mostAfter} {
		if err := r.Admit("", "c", n); (err == nil) != (want == 0) || cluster.AfterOf(err) != want {
			t.Errorf("%d tasks: %v, after %v; want %v", n, err, cluster.AfterOf(err), want)
		}
	}
	if r.Draining(); cluster.AfterOf(r.Admit("", "c", 1)) != goneAfter {
		t.Errorf("draining: after %v", cluster.AfterOf(r.Admit("", "c", 1)))
	}
}
