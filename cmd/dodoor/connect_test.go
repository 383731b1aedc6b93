package main

import (
	"io"
	"strings"
	"testing"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// Who waits for a scheduler that keeps what it accepted is told, and when it answers again; of a task's reason a table has one line.
func TestWhoIsWaitedFor(t *testing.T) {
	var said strings.Builder
	v := &visit{stderr: &said}
	for _, what := range []generator.Change{generator.Silent, generator.Waited, generator.Back} {
		v.client().News(&generator.News{Scheduler: "s1", Address: "a:1", What: what, Err: io.EOF})
	}
	want := "waiting for scheduler s1 at a:1, which keeps what it accepted (EOF)\nscheduler s1 at a:1 answers again\n"
	if said.String() != want {
		t.Errorf("%q, want %q", said.String(), want)
	}
	record := &cluster.TaskRecord{Reason: "exit status 1\nsecond line"}
	if text := taskTable([]cluster.TaskStatus{{ID: "t", Record: record}}); strings.Contains(text, "second line") {
		t.Errorf("%s", text)
	}
}

// Commands about a running cluster find everything through the data service's address.
func TestCommandsAboutARunningCluster(t *testing.T) {
	l := running(t, sleeping)
	at := func(command string, args ...string) []string {
		return append([]string{command, "-conf", "single", "-datastore", l.Address()}, args...)
	}
	trace := write(t, "t.csv", "0,1,10,0,10,0,sleep,short\n1,1,10,0,10,5,sleep,short\n")
	for _, step := range []struct {
		what string
		args []string
		code int
		says []string
	}{
		{"nodes", at("nodes"), exitDone, []string{"laptop-1", "laptop-2", "2 cores", "open", "2 workers, 1 scheduler, 0 scheduling decisions"}},
		{"submit and wait", at("submit", "-id", "a", "-type", "sleep", "-cores", "1", "-memory", "10", "-duration", "10ms"), exitDone,
			[]string{"finished", "laptop-"}},
		{"the same id again", at("submit", "-id", "a", "-type", "sleep", "-cores", "1", "-duration", "10ms"), exitFailed,
			[]string{"duplicate task"}},
		{"unknown type", at("submit", "-type", "nosuch"), exitFailed, []string{`"nosuch"`, "simulated, sleep"}},
		{"fits nowhere", at("submit", "-type", "sleep", "-cores", "3", "-duration", "10ms"), exitFailed, []string{"3 cores", "2 cores"}},
		{"one task", at("tasks", "-id", "a"), exitDone, []string{"ended", "finished"}},
		{"no such task", at("tasks", "-id", "b"), exitFailed, []string{`"b"`}},
		{"a long one", at("submit", "-id", "long", "-type", "sleep", "-cores", "1", "-duration", "1h", "-no-wait"), exitDone,
			[]string{"long accepted"}},
		{"cancel it", at("cancel", "long"), exitDone, []string{"scheduler-1"}},
		{"cancel nothing", at("cancel", "nosuch"), exitFailed, []string{"nosuch"}},
		{"cancel without a name", at("cancel"), exitUsage, []string{"which job or task? usage: dodoor cancel [flags] JOB or TASK"}},
		{"drain without a name", at("drain"), exitUsage, []string{"which worker? usage: dodoor drain [flags] WORKER"}},
		{"a flag behind, without its value", at("cancel", "long", "-set"), exitUsage, []string{"which job or task?"}},
		{"drain", at("drain", "laptop-1"), exitDone, nil},
		{"drain nobody", at("drain", "laptop-9"), exitFailed, []string{"laptop-9", "dodoor nodes"}},
		{"put back", at("drain", "-off", "laptop-1"), exitDone, nil},
		{"replay to whom the data service knows", at("replay", "-quiet", "-trace", trace, "-n", "2", "-qps", "0", "-out", t.TempDir()),
			exitDone, []string{"2 of 2 completed"}},
		{"nobody there", []string{"nodes", "-datastore", "127.0.0.1:1"}, exitFailed, []string{"127.0.0.1:1", "-datastore"}},
	} {
		stdout, stderr, code := dodoor(step.args...)
		if code != step.code {
			t.Errorf("%s: exit code %d, want %d\n%s%s", step.what, code, step.code, stdout, stderr)
		}
		for _, text := range step.says {
			if !strings.Contains(stdout+stderr, text) {
				t.Errorf("%s: says nothing of %q\n%s%s", step.what, text, stdout, stderr)
			}
		}
	}
}
