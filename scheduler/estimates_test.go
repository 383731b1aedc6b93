package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// learning is a replica that learns, with the type "profiled" of one mode beside "simulated".
func learning(t testing.TB, e Estimates) *Replica {
	t.Helper()
	cfg := testConfig()
	cfg.Estimates, cfg.SelfCorrection = e, true
	if e == Exact {
		cfg.Foresee = func(uint64) float64 { return 1.5 }
	}
	cfg.Types = append(cfg.Types, cluster.TaskType{Name: "profiled", Modes: []cluster.Mode{{Name: "short",
		PerClass: map[string]cluster.Shape{"m510": {Demand: cores(1), Duration: 1000}}}}})
	return replicaWith(t, cfg, paperPolicy(t), paperNodes(40)) // of class m510 alone
}

// finishIn is the worker's notice that a dispatch finished after a time.
func finishIn(t testing.TB, r *Replica, d Dispatch, run time.Duration) {
	t.Helper()
	_, err := r.Completed(time.Minute, &cluster.CompletionNotice{Node: r.Node(d.Node).Name, NodeIncarnation: d.NodeIncarnation,
		SchedulerIncarnation: testIncarnation, Completions: []cluster.Completion{{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number,
			Outcome: cluster.Finished, Run: run}}})
	if err != nil {
		t.Fatal(err)
	}
}

// untold is a submission that says nothing of how long it runs.
func untold(id string) *cluster.TaskSpec {
	s := request(id, 1, 1, 0)
	s.Duration = nil
	return s
}

// A task without a duration is refused where nothing is learned, and else expected to take the default, then what those before
// it took. Its record says what was expected when it was placed, and what was accounted for is that, exactly.
func TestTasksWithoutADuration(t *testing.T) {
	if _, refusal := learning(t, Given).Submit(0, "client", untold("a")); refusal == nil ||
		!strings.Contains(refusal.Message, `"simulated" has no profile, so the submission must bring its duration`) {
		t.Errorf("refusal %v", refusal)
	}
	r := learning(t, Learned)
	var placed cluster.Load
	var sent []Dispatch
	for i, took := range []time.Duration{0, 4 * time.Second, 8 * time.Second} {
		first := submit(t, r, 0, untold(fmt.Sprint("slow", i)))
		if want := []int64{10_000, 10_000, 4000}[i]; first.Assignment.Shape.Duration != want || !first.Assignment.Guessed {
			t.Errorf("task %d is expected to take %d ms, want %d", i, first.Assignment.Shape.Duration, want)
		}
		placed, sent = placed.Add(cluster.LoadOf(first.Assignment.Shape)), append(sent, first)
		if took > 0 {
			finishIn(t, r, first, took)
		}
	}
	finishIn(t, r, sent[0], time.Second)
	var sum cluster.Load
	for i := range r.nodes.slots {
		sum = sum.Add(r.nodes.slots[i].stream.placed)
	}
	if sum != placed {
		t.Errorf("accounted for %+v, placed %+v", sum, placed)
	}
	records, _ := collectAll(t, r, 0)
	got := map[string]int64{}
	for _, record := range records {
		got[record.ID] = record.Estimate
	}
	if got["slow0"] != 10_000 || got["slow1"] != 10_000 || got["slow2"] != 4000 {
		t.Errorf("recorded estimates %v", got)
	}
	if n := r.experience.names["simulated/"]; n.tasks != 0 || n.classes[0].count != 3 {
		t.Errorf("%+v", n)
	}
}

// What a submission says stands, and is learned from all the same. A task that failed teaches nothing.
func TestADurationInTheSubmissionStands(t *testing.T) {
	r := learning(t, Learned)
	for i := range 40 {
		d := submit(t, r, 0, request(fmt.Sprint("t", i), 1, 1, 3000))
		if d.Assignment.Shape.Duration != 3000 || d.Assignment.Takes != 0 || d.Assignment.Guessed {
			t.Fatalf("%+v", d.Assignment)
		}
		finishIn(t, r, d, time.Second)
	}
	finish(t, r, 0, submit(t, r, 0, untold("failed")), cluster.Failed)
	if d := submit(t, r, 0, untold("x")); d.Assignment.Shape.Duration != 1000 {
		t.Errorf("%+v", d.Assignment)
	}
	if n := r.experience.names["simulated/"]; n.classes[0].count != 40 || n.classes[0].own().Off != 667 {
		t.Errorf("%+v", n.classes[0].own())
	}
}

// However a task is estimated, an emulated execution is told what was given for it.
func TestWhatATaskTakesTravels(t *testing.T) {
	for _, c := range []struct {
		e                       Estimates
		typ                     string
		given                   int64
		estimate, takes         int64 // at first
		learnt, takesOnceLearnt int64 // after many of 2 s
	}{
		{Given, "profiled", 0, 1000, 0, 1000, 0},
		{Learned, "profiled", 0, 1000, 0, 2000, 1000},
		{Cold, "profiled", 0, 10_000, 1000, 2000, 1000},
		{Cold, "simulated", 700, 10_000, 700, 2000, 700},
		{Cold, "simulated", 0, 10_000, 1, 2000, 1}, // no time is told as the least
		{Exact, "simulated", 700, 1050, 700, 1050, 700},
		{Exact, "profiled", 0, 1500, 1000, 1500, 1000},
	} {
		r := learning(t, c.e)
		task := func(id string) Dispatch {
			s := request(id, 1, 1, c.given)
			if s.Type = c.typ; c.typ == "profiled" {
				s.Mode, s.Demand, s.Duration = "short", nil, nil
			}
			return submit(t, r, 0, s)
		}
		d := task("first")
		if a := &d.Assignment; a.Shape.Duration != c.estimate || a.Takes != c.takes {
			t.Errorf("%v, %s: expected %d ms, told %d; want %d, %d", c.e, c.typ, a.Shape.Duration, a.Takes, c.estimate, c.takes)
		}
		for i := range profilePatience + 1 {
			finishIn(t, r, d, 2*time.Second)
			d = task(fmt.Sprint("t", i))
		}
		if a := &d.Assignment; a.Shape.Duration != c.learnt || a.Takes != c.takesOnceLearnt {
			t.Errorf("%v, %s, later: expected %d ms, told %d; want %d, %d", c.e, c.typ, a.Shape.Duration, a.Takes, c.learnt, c.takesOnceLearnt)
		}
	}
}

// What is learned is learned of a name: a job's own, else type and mode, else the program.
func TestWhatTasksAreCalled(t *testing.T) {
	script := func(text string) *cluster.Template {
		return &cluster.Template{Script: []byte(text), Argv: []string{"x"}}
	}
	program := func(argv ...string) *cluster.Template { return &cluster.Template{Argv: argv} }
	long := strings.Repeat("ä", 200)
	for _, c := range []struct {
		job  string
		t    *cluster.Template
		want string
	}{
		{"", program("/usr/bin/gzip", "-k"), "gzip"},
		{"", program("gzip"), "gzip"},
		{"nightly", program("gzip"), "nightly"},
		{"a/b", program("gzip"), "a_b"}, // a slash is a type's
		{"", program("/"), "_"},
		{"", program("a\x00\xffb\n"), "a__b_"},
		{"", script("#!/usr/bin/env python3\nprint(1)"), "python3 0123abcd"},
		{"", script("#!/bin/bash -e\ntrue"), "bash 0123abcd"},
		{"", script("true"), "script 0123abcd"},
		{long, program("gzip"), strings.Repeat("ä", 23) + "~"},
	} {
		template := &template{program: programName(c.t, "0123abcd456")}
		got := string(commandKey(nil, &job{Job: cluster.Job{Name: c.job}}, template))
		if got != c.want && !(c.job == long && strings.HasPrefix(got, c.want)) || len(got) > cluster.MaxLearned {
			t.Errorf("job %q, %q: %q, want %q", c.job, c.t.Argv, got, c.want)
		}
	}
	if got := string(typeKey(nil, "matmul", "short")); got != "matmul/short" {
		t.Error(got)
	}
	a, b := string(shortened([]byte(long))), string(shortened([]byte(long+"!")))
	if a == b || len(a) > cluster.MaxLearned || len(a) < cluster.MaxLearned-3 {
		t.Errorf("%q, %q", a, b)
	}
}

// Tasks of a job share what is learned of its name, also those that came before; a refused task leaves no name behind.
func TestJobsLearnByName(t *testing.T) {
	r := learning(t, Learned)
	template := &cluster.Template{Argv: []string{"./sim"}}
	job := &cluster.Job{ID: "j", Name: "nightly"}
	task := func(index int64) Dispatch {
		actions, refusal := r.SubmitJob(0, job, "", commandOf("j", index, template, template.Digest()))
		if refusal != nil {
			t.Fatal(refusal)
		}
		return actions.Send[0]
	}
	d := task(1)
	if d.Assignment.Shape.Duration != 10_000 || d.Assignment.Takes != 0 {
		t.Errorf("%+v", d.Assignment)
	}
	again := task(2)
	finishIn(t, r, d, 3*time.Second)
	finish(t, r, 0, again, cluster.Failed)
	actions, n, err := r.RetryJob(0, cluster.Everybody, "j")
	if err != nil || n != 1 || actions.Send[0].Assignment.Shape.Duration != 3000 {
		t.Errorf("%d tasks run again, %v: %+v", n, err, actions)
	}
	if r.tasks["j.2"].batch.named != r.experience.names["nightly"] || r.experience.names["nightly"].tasks != 1 {
		t.Error("the tasks of one job read different tables")
	}
	huge := untold("huge")
	huge.Mode, huge.Demand = "odd", &cluster.Resources{1 << 40}
	if _, refusal := r.Submit(0, "client", huge); refusal == nil || len(r.experience.names) != 1 {
		t.Errorf("refusal %v, %d names", refusal, len(r.experience.names))
	}
}

// Deltas carry what was learned, and snapshots bring what others did, also one that says nothing new of nodes.
func TestExperienceRidesOnDeltasAndSnapshots(t *testing.T) {
	r := learning(t, Learned)
	finishIn(t, r, submit(t, r, 0, untold("a")), 2*time.Second)
	submit(t, r, 0, untold("b"))
	flushed := r.Settle(0).Flush
	if len(flushed) != 1 || len(flushed[0].Experience) != 1 {
		t.Fatalf("%+v", flushed)
	}
	e := flushed[0].Experience[0]
	if e.Name != "simulated/" || e.Class != "m510" || e.Number != 1 || e.Count != 1 || len(e.Runs) != 1 || e.Runs[0].Took != 2000 ||
		e.Scheduler != "s1" || e.Incarnation != testIncarnation {
		t.Errorf("%+v", e)
	}
	r.FlushFailed(flushed[0])
	if again := r.Settle(0).Flush[0].Experience; len(again) != 1 {
		t.Errorf("after a lost delta: %+v", again)
	}
	e.Scheduler, e.Runs = "s2", []cluster.Run{{Took: 6000, At: 5}}
	s := snapshotOf(1, paperNodes(40), make([]cluster.Load, 40))
	s.Experience = []cluster.Experience{e}
	if _, err := r.Push(0, s); err != nil {
		t.Fatal(err)
	}
	if d := submit(t, r, 0, untold("c")); d.Assignment.Shape.Duration != 4000 {
		t.Errorf("%+v", d.Assignment)
	}
}

// The answer to who asks: what is known by name and class in order, and which rule is in force.
func TestEstimatesAreTold(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	x.runs("sim", "b", append(slow(18, 100), 900, 1000)...)
	x.runs("profiled/short", "a", 1100)
	x.runs("other", "a", 1)
	list := x.tell(&cluster.EstimateQuery{Max: 100})
	if len(list) != 9 {
		t.Fatalf("%+v", list)
	}
	for i, want := range []cluster.Estimate{
		{Name: "other", Class: "a", Duration: 1, Rule: cluster.LearnedRule, Count: 1, Median: 1, P95: 1},
		{Name: "other", Class: "b", Duration: 1, Rule: cluster.BorrowedRule},
		{Name: "other", Class: "c", Duration: 1, Rule: cluster.BorrowedRule},
		{Name: "profiled/short", Class: "a", Duration: 1000, Rule: cluster.ProfileRule, Count: 1, Median: 1100, P95: 1100},
		{Name: "profiled/short", Class: "b", Duration: 500, Rule: cluster.ProfileRule},
		{Name: "profiled/short", Class: "c", Duration: 1100, Rule: cluster.BorrowedRule},
		{Name: "sim", Class: "a", Duration: 100, Rule: cluster.BorrowedRule},
		{Name: "sim", Class: "b", Duration: 100, Rule: cluster.LearnedRule, Count: 20, Median: 100, P95: 900},
		{Name: "sim", Class: "c", Duration: 100, Rule: cluster.BorrowedRule},
	} {
		if list[i] != want {
			t.Errorf("%+v, want %+v", list[i], want)
		}
	}
	demand := tableOf(t, "s1", 1, Learned)
	demand.needed(demand.name("sim"), demand.classes.Class("a"), oom(100), need{memory: 100})
	if e := demand.tell(&cluster.EstimateQuery{Max: 1})[0]; e.Rule != cluster.DefaultRule || e.Duration != 10_000 {
		t.Errorf("of what never finished: %+v", e)
	}
	if some := x.tell(&cluster.EstimateQuery{Name: "th", Max: 2}); len(some) != 2 || some[1].Class != "b" {
		t.Errorf("%+v", some)
	}
	if list := learning(t, Given).Estimates(&cluster.EstimateQuery{Max: 9}); list != nil {
		t.Errorf("where nothing is learned: %+v", list)
	}
}
