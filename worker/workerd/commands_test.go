package workerd

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/spool"
)

// printing is an executor of commands that print their arguments, one a second. It allows any but "bad".
type printing struct {
	executor.Base
	spool *spool.Spool
}

func (p printing) Allows(_ string, t *cluster.Template) error {
	if t.Argv[0] == "bad" {
		return fmt.Errorf("worker w1 may not run bad: process.allow has only good")
	}
	return nil
}

func (p printing) Run(ctx context.Context, s worker.Start) worker.Result {
	capture := executor.NewCapture(p.spool, &s)
	defer capture.End()
	for _, argument := range s.Command.Template.Argv {
		select {
		case <-time.After(time.Second):
			fmt.Fprintln(capture.Stdout(), argument)
		case <-ctx.Done():
			return executor.Interrupted(ctx)
		}
	}
	return worker.Result{Outcome: cluster.Finished, Measured: cluster.Measured{Output: capture.Tail(), Printed: capture.Printed()}}
}

// runsCommands makes a worker run commands, with a spool in a folder.
func runsCommands(folder string) func(*Config) {
	return func(c *Config) {
		output, err := spool.New(spool.Config{Worker: "w1", Folder: folder, TaskBytes: 1 << 20, Bytes: 1 << 30})
		if err != nil {
			panic(err)
		}
		c.Spool, c.Executors["process"] = output, printing{spool: output}
		c.Node.Executors = append(c.Node.Executors, worker.Executor{Name: "process"})
	}
}

// command places a task of its own program, and returns why it was refused.
func (s *fakeScheduler) command(t testing.TB, id string, argv ...string) string {
	t.Helper()
	return s.commandAgain(t, id, 1, argv...)
}

// commandAgain does so for a later attempt.
func (s *fakeScheduler) commandAgain(t testing.TB, id string, attempt int, argv ...string) string {
	t.Helper()
	if s.incarnation == 0 {
		s.attach(t)
	}
	s.number++
	a := cluster.Assignment{Number: s.number, TaskID: id, Type: cluster.CommandType, TimeScale: 1, Attempt: attempt,
		Shape:   cluster.Shape{Demand: cluster.Resources{1000, 100}, Duration: 1000},
		Command: &cluster.Command{Template: &cluster.Template{Argv: argv}, Job: "j"}}
	s.placed = s.placed.Add(cluster.LoadOf(a.Shape))
	reply, err := s.client.Enqueue(context.Background(), cluster.Enqueue{Scheduler: s.ref, NodeIncarnation: s.incarnation, Number: s.number,
		Placed: s.placed, Assignments: []cluster.Assignment{a}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reply.Refused {
		return r.Error()
	}
	return ""
}

func (s *fakeScheduler) output(t testing.TB, q cluster.OutputRequest) cluster.OutputChunk {
	t.Helper()
	q.Max = 100
	c, err := s.client.Output(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a command prints can be read while it runs, before it begins, and after the worker has been started again.
func TestOutput(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, runsCommands(folder))
		begin := time.Now()
		for _, id := range []string{"one", "two", "three"} { // of two slots
			if refusal := b.sched.command(t, id, "good", "morning"); refusal != "" {
				t.Fatal(refusal)
			}
		}
		for _, c := range []struct {
			q     cluster.OutputRequest
			data  string
			ended bool
			at    time.Duration
		}{
			{cluster.OutputRequest{TaskID: "one", Wait: time.Minute}, "good\n", false, time.Second},
			{cluster.OutputRequest{TaskID: "one"}, "good\n", false, time.Second},
			{cluster.OutputRequest{TaskID: "one", Offset: 5, Wait: time.Minute}, "morning\n", false, 2 * time.Second},
			{cluster.OutputRequest{TaskID: "three", Wait: time.Minute}, "good\n", false, 3 * time.Second},
			{cluster.OutputRequest{TaskID: "three", Offset: 13, Wait: time.Minute}, "", true, 4 * time.Second},
			{cluster.OutputRequest{TaskID: "one", Attempt: 1}, "good\nmorning\n", true, 4 * time.Second},
		} {
			got := b.sched.output(t, c.q)
			if string(got.Data) != c.data || got.Ended != c.ended && c.at != 2*time.Second || time.Since(begin) != c.at {
				t.Errorf("%+v: %+v after %v", c.q, got, time.Since(begin))
			}
		}
		if done := b.sched.completions()["one"]; len(done) != 1 || done[0].Printed != 13 || done[0].Output != "good\nmorning" {
			t.Errorf("%+v", done)
		}
		if err := b.stop(); err != nil {
			t.Fatal(err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := start(t, runsCommands(folder))
		if c := b.sched.output(t, cluster.OutputRequest{TaskID: "two"}); string(c.Data) != "good\nmorning\n" || !c.Ended {
			t.Errorf("after a restart: %+v", c)
		}
		for range 2 { // once more does no harm
			if err := b.sched.client.ForgetJob(t.Context(), "j"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := b.sched.client.Output(t.Context(), cluster.OutputRequest{TaskID: "two", Max: 1, Wait: time.Minute})
		if cluster.CodeOf(err) != cluster.UnknownTask || !strings.Contains(err.Error(), `worker w1 has no output of task "two"`) {
			t.Errorf("forgotten: %v", err)
		}
	})
}

func TestCommandsThatAreRefused(t *testing.T) {
	folder := t.TempDir()
	const bad, none = "worker w1 may not run bad: process.allow has only good", "process.allow is empty on worker w1, so it runs no commands"
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			change  func(*Config)
			program string
			want    string
		}{{runsCommands(folder), "good", ""}, {runsCommands(folder), "bad", bad}, {func(*Config) {}, "good", none}} {
			b := start(t, c.change)
			if why, err := b.sched.client.Refuses(t.Context(), cluster.Template{Argv: []string{c.program}}); why != c.want || err != nil {
				t.Errorf("%s: %q, %v, want %q", c.program, why, err, c.want)
			}
			if got := b.sched.command(t, "t", c.program); strings.TrimPrefix(got, "not allowed: ") != c.want {
				t.Errorf("%s: %q, want %q", c.program, got, c.want)
			}
			if err := b.stop(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What was only emulated has printed nothing.
func TestOutputOfEmulatedCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, func(c *Config) { c.Node.Executor = "wait" })
		b.sched.answers(func(int) error { return cluster.Errorf(cluster.Overloaded, "later") }) // so that the node holds the task
		if refusal := b.sched.command(t, "t", "anything"); refusal != "" {
			t.Fatal(refusal)
		}
		pass(2 * time.Second)
		if c := b.sched.output(t, cluster.OutputRequest{TaskID: "t", Wait: time.Minute}); !c.Ended || c.Printed != 0 || c.Attempt != 1 {
			t.Errorf("%+v", c)
		}
		_, err := b.sched.client.Output(t.Context(), cluster.OutputRequest{TaskID: "other", Max: 1})
		if cluster.CodeOf(err) != cluster.UnknownTask {
			t.Error(err)
		}
		b.sched.answers(nil)
		pass(time.Minute)
	})
}
