package scheduler

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// completion is what the worker of a dispatch says of how it ended.
func completion(d Dispatch, o cluster.Outcome, run time.Duration) cluster.Completion {
	return cluster.Completion{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number, Outcome: o, Run: run}
}

func notify(t *testing.T, r *Replica, d Dispatch, c ...cluster.Completion) *Actions {
	t.Helper()
	ready, err := r.Completed(time.Minute, &cluster.CompletionNotice{Node: r.Node(d.Node).Name, NodeIncarnation: d.NodeIncarnation,
		SchedulerIncarnation: testIncarnation, Completions: c})
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// What a notice says of tasks that are unknown, or were never placed there, does not hide what it says of others.
func TestStrangeCompletionsHideNothing(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	a, b := submit(t, r, 0, request("a", 1, 1, 1)), submit(t, r, 0, request("b", 1, 1, 1))
	unknown, wrong := completion(a, cluster.Finished, 1), completion(a, cluster.Failed, 1)
	unknown.TaskID, wrong.Number = "unknown", 99
	notify(t, r, a, unknown, wrong, completion(a, cluster.Finished, 1), completion(b, cluster.Finished, 1))
	if s := r.Statistics(); s.Outcomes[cluster.Finished] != 2 || s.Outcomes[cluster.Failed] != 0 {
		t.Errorf("outcomes %v: want both finished", s.Outcomes)
	}
}

// When an earlier attempt ends first, the present one is stopped where it is, or on its way to; where there is none,
// nobody is told to stop.
func TestTheOtherAttemptIsStopped(t *testing.T) {
	for phase, want := range map[cluster.Phase]int{cluster.Sent: 1, cluster.Accepted: 1, cluster.Placing: 0} {
		n := 2
		if phase == cluster.Placing {
			n = 1 // nowhere to go
		}
		r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(n))
		first := submit(t, r, 0, request("a", 1, 1, 1))
		acknowledge(r, 1, first)
		ready := r.NodeDown(2, first.Node, 1, first.Assignment.Number)
		if phase == cluster.Accepted {
			acknowledge(r, 3, ready.Send[0])
		}
		if got := r.Query(cluster.TaskQuery{ID: "a"})[0].Phase; got != phase {
			t.Fatalf("the task is %v, want %v", got, phase)
		}
		if ready := notify(t, r, first, completion(first, cluster.Finished, 1)); len(ready.Cancel) != want {
			t.Errorf("%v: %d attempts are stopped, want %d", phase, len(ready.Cancel), want)
		}
		if records, _ := collectAll(t, r, 0); len(records) != 1 || records[0].Worker != r.Node(first.Node).Name {
			t.Errorf("%v: records %+v, want one of the worker that ran it", phase, records)
		}
	}
}

// A task that a worker gave up runs elsewhere, unless it must not run twice and had started.
func TestTasksThatAWorkerGaveUp(t *testing.T) {
	for _, c := range []struct {
		once bool
		run  time.Duration
		lost bool
	}{{false, 0, false}, {false, time.Second, false}, {true, 0, false}, {true, 1, true}} {
		r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
		spec := request("a", 1, 1, 1)
		spec.AtMostOnce = c.once
		d := submit(t, r, 0, spec)
		acknowledge(r, 1, d)
		ready := notify(t, r, d, completion(d, cluster.Lost, c.run))
		if s := r.Statistics(); (s.Outcomes[cluster.Lost] == 1) != c.lost || (len(ready.Send) == 0) != c.lost {
			t.Errorf("%+v: %d placed again, outcomes %v", c, len(ready.Send), s.Outcomes)
		}
	}
}

// The record of a task names the class that ran it; one that was lost has no exit code, which is -1.
func TestRecordsOfEndings(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	d := submit(t, r, 0, request("a", 1, 1, 1))
	c := completion(d, cluster.Finished, 40*ms)
	c.Wait = 20 * ms
	ready, err := r.Completed(100*ms, &cluster.CompletionNotice{Node: "w0", NodeIncarnation: 1, SchedulerIncarnation: testIncarnation,
		Completions: []cluster.Completion{c}})
	if err != nil || len(ready.Finished) != 1 {
		t.Fatal(ready, err)
	}
	spec := request("b", 1, 1, 1)
	spec.AtMostOnce = true
	d = submit(t, r, 0, spec)
	acknowledge(r, 1, d)
	r.NodeDown(2, 0, 1, d.Assignment.Number)
	records, _ := collectAll(t, r, 0)
	if len(records) != 2 || records[0].Class != "m510" || records[0].ExitCode != 0 || records[0].Scheduling != 40*ms {
		t.Errorf("records %+v: want class m510, and 100 ms less 20 of waiting and 40 of running", records)
	}
	if lost := records[1]; lost.Outcome != cluster.Lost || lost.ExitCode != -1 {
		t.Errorf("record %+v: want it lost, without an exit code", lost)
	}
}

// A refusal names the dimension that no class has enough of: the least that a class asks, and the most that there is.
func TestInfeasibleTasksNameWhatIsShort(t *testing.T) {
	none, small, large := nodeOf("none", 64, 1<<20), nodeOf("small", 2, 1000), nodeOf("large", 3, 1000)
	none.Class, small.Class, large.Class = "none", "small", "large"
	shape := func(cores, memory int64) cluster.Shape {
		return cluster.Shape{Demand: cluster.Resources{cores * 1000, memory}, Duration: 1}
	}
	for _, c := range []struct {
		what     string
		perClass map[string]cluster.Shape
		want     string
	}{
		{"cores", map[string]cluster.Shape{"small": shape(4, 1), "large": shape(6, 1)},
			"cores: the task needs 4 cores, the largest capacity is 3 cores"},
		{"cores, the other way", map[string]cluster.Shape{"small": shape(6, 1), "large": shape(4, 1)}, "cores: the task needs 4 cores, "},
		{"memory, with cores that fit exactly", map[string]cluster.Shape{"small": shape(2, 2000)}, "memory: the task needs 2000"},
		{"each has enough of something", map[string]cluster.Shape{"small": shape(4, 1), "large": shape(1, 2000)}, "no single node has enough"},
	} {
		cfg := testConfig()
		cfg.Types = append(cfg.Types, cluster.TaskType{Name: "f", Modes: []cluster.Mode{{Name: "long", PerClass: c.perClass}}})
		r := replicaWith(t, cfg, paperPolicy(t), []cluster.Node{none, small, large})
		_, refusal := r.Submit(0, "client", &cluster.TaskSpec{ID: "a", Type: "f", Mode: "long"})
		if refusal == nil || refusal.Code != cluster.NoFeasibleNode || !strings.HasPrefix(refusal.Message, c.want) {
			t.Errorf("%s: %v, want %q", c.what, refusal, c.want)
		}
	}
}
