package main

import (
	"io"
	"strings"
	"testing"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/job"
)

// What is printed to be pasted is about the same cluster.
func TestHintsRepeatHowTheClusterIsFound(t *testing.T) {
	personal(t, threeClusters)
	for _, c := range []struct {
		given []string
		want  string
	}{
		{nil, "dodoor logs j.1"},
		{[]string{"-log-level", "warn", "-datastore", "h:1"}, "dodoor logs -datastore h:1 j.1"},
		{[]string{"-schedulers", "h:1, h:2", "-datastore", "h:3"}, "dodoor logs -datastore h:3 -schedulers h:1,h:2 j.1"},
		{[]string{"-conf", "my conf.toml", "-datastore", "7"}, "dodoor logs -conf 'my conf.toml' -datastore 7 j.1"},
		{[]string{"-cluster", "prod"}, "dodoor logs -cluster prod j.1"},
		{[]string{"-conf", "c.toml", "-set", "security.user=me", "-set", "log.level=warn"},
			"dodoor logs -conf c.toml -set security.user=me j.1"},
	} {
		o := newOptions("tasks", "", "", "local", io.Discard)
		o.visitFlags()
		if code := o.parse(c.given); code >= 0 {
			t.Fatal(c.given)
		}
		_ = o.choose() // what it adds is not what the person gave
		hint := o.outputHint([]cluster.TaskStatus{{ID: "t"}, {Job: "j", Index: 1, Node: "w"}})
		if hint != c.want+" prints what it printed\n" {
			t.Errorf("%q: %q", c.given, hint)
		}
	}
	o := newOptions("tasks", "", "", "local", io.Discard)
	task := cluster.TaskStatus{Job: "j", Index: 1, Node: "w", Record: &cluster.TaskRecord{}}
	if hint := o.outputHint([]cluster.TaskStatus{task}); hint != "" {
		t.Errorf("of a task that printed nothing: %q", hint)
	}
	task.Record.Printed = 1
	if hint := o.outputHint([]cluster.TaskStatus{task}); hint != "dodoor logs j.1 prints what it printed\n" {
		t.Errorf("%q", hint)
	}
}

// A job part of which nobody tells of shows how much, and is neither run again nor forgotten.
func TestAJobThatIsNotKnownWhole(t *testing.T) {
	address := startForJobs(t)
	o := newOptions("submit", "", "", "local", io.Discard)
	o.visitFlags()
	if code := o.parse([]string{"-datastore", address}); code >= 0 {
		t.Fatal(code)
	}
	v, code := o.connect()
	if code >= 0 {
		t.Fatal(code)
	}
	defer v.close()
	p, err := job.NewPlan(&cluster.Template{Argv: []string{"true"}}, job.Inputs{}, nil, job.Figures{Demand: &cluster.Resources{100, 10}})
	if err != nil {
		t.Fatal(err)
	}
	submit := func(id string, tasks int64) {
		t.Helper()
		c := v.client()
		defer c.Close()
		if err := c.Submit(t.Context(), &client.Submission{Plan: p, Job: cluster.Job{ID: id, Tasks: tasks}}, client.Interrupts{}); err != nil {
			t.Fatal(err)
		}
	}
	submit("whole", 1)
	if stdout, _, code := dodoor("jobs", "-datastore", address); code != exitDone || strings.Contains(stdout, "UNKNOWN") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	submit("part", 3)
	if stdout, _, code := dodoor("jobs", "-datastore", address); code != exitDone ||
		!strings.Contains(stdout, "│ OPEN │ UNKNOWN │ RETRIED │") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	for _, verb := range []string{"forget", "retry"} {
		_, stderr, code := dodoor(verb, "-datastore", address, "part")
		if code != exitFailed || !strings.Contains(stderr, "no scheduler that is registered tells of 2 of its 3 tasks: ") {
			t.Errorf("%s: exit code %d, %s", verb, code, stderr)
		}
	}
	if _, stderr, code := dodoor("wait", "-datastore", address, "-quiet", "whole"); code != exitDone {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	if stdout, stderr, code := dodoor("forget", "-datastore", address, "whole"); code != exitDone || stdout != "job whole is forgotten\n" {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}
