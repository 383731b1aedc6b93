package worker

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// commandConfig is testConfig with executors of commands, which run anything but the program "bad".
func commandConfig() Config {
	c := testConfig()
	c.Executors = append(c.Executors, Executor{Name: "process"}, Executor{Name: "docker"})
	c.Judge = func(_, _ string, t *cluster.Template) error {
		if t.Argv[0] == "bad" {
			return errors.New("worker n1 may not run bad")
		}
		return nil
	}
	return c
}

func commands(c *Config) { *c = commandConfig() }

// bringing makes an assignment a command's, with its template or with the name of that alone.
func bringing(a *cluster.Assignment, program string, template bool) {
	t := &cluster.Template{Argv: []string{program, "{}"}}
	a.Type, a.Command = cluster.CommandType, &cluster.Command{Digest: t.Digest(), Job: "j", Index: 1, Entries: []string{a.TaskID}}
	if template {
		a.Command.Template = t
	}
}

// command places a task that runs t, or names it alone, and returns why it was refused.
func (c *client) command(t testing.TB, n *Node, now time.Duration, id string, of *cluster.Template, named bool) (Actions, string) {
	t.Helper()
	a := c.place(id, shape(1, 1, 1))
	a.Type, a.Attempt, a.Command = cluster.CommandType, 2, &cluster.Command{Digest: of.Digest(), Job: "j", Index: 5, Entries: []string{id}}
	if !named {
		a.Command.Template = of
	}
	reply, actions, err := n.Enqueue(now, c.message(n, a))
	if err != nil {
		t.Fatal(err)
	}
	if len(reply.Refused) > 0 {
		return actions, reply.Refused[0].Error()
	}
	return actions, ""
}

func TestStartSaysWhichCommand(t *testing.T) {
	n := newNode(t, commands, func(c *Config) { c.Limits.TimeoutFactor = 2 })
	s := attach(t, n, "s", 1)
	of := &cluster.Template{Argv: []string{"gzip", "{}"}, TimeLimit: time.Minute}
	s.command(t, n, 0, "first", of, false)
	actions, refusal := s.command(t, n, 0, "t", &cluster.Template{Argv: []string{"gzip", "{}"}, TimeLimit: time.Minute}, true)
	if refusal != "" || len(actions.Start) != 1 {
		t.Fatalf("%q, %+v", refusal, actions)
	}
	start := actions.Start[0]
	expect(t, "command", []any{start.Type, start.Executor, start.Timeout, start.Attempt, *start.Command},
		[]any{"command", "process", time.Minute, 2,
			cluster.Command{Digest: of.Digest(), Template: of, Job: "j", Index: 5, Entries: []string{"t"}}})
	if start.Command.Template != of {
		t.Error("the template is there twice")
	}
	actions, _ = s.command(t, n, 0, "unlimited", &cluster.Template{Argv: []string{"gzip"}}, false)
	expect(t, "no time limit", actions.Start[0].Timeout, time.Duration(0))
	actions, _ = s.command(t, n, 0, "boxed", &cluster.Template{Argv: []string{"gzip"}, Image: "lab/tool:3"}, false)
	expect(t, "image", []string{actions.Start[0].Executor, actions.Start[0].Image}, []string{"docker", "lab/tool:3"})
	status := n.Tasks(cluster.TaskQuery{ID: "t"})
	expect(t, "task", []string{status[0].Type, status[0].Phase.String()}, []string{"command", "running"})
}

// Where nothing runs commands, the refusal says what to set. What is emulated needs no permission.
func TestWhoRunsCommands(t *testing.T) {
	plain, image := &cluster.Template{Argv: []string{"x"}}, &cluster.Template{Argv: []string{"x"}, Image: "lab/tool:3"}
	for _, c := range []struct {
		change func(*Config)
		of     *cluster.Template
		want   string
	}{
		{func(*Config) {}, plain, "not allowed: process.allow is empty on worker n1, so it runs no commands"},
		{func(*Config) {}, image, "not allowed: docker.images is empty on worker n1, so it runs no commands in containers: add lab/tool:3"},
		{func(c *Config) { c.Executor = "sleep" }, image, ""},
		{commands, plain, ""},
		{func(c *Config) { commands(c); c.Judge = nil }, plain, "not allowed: worker n1 runs no commands"},
		{func(c *Config) { commands(c); c.Types = nil }, plain, ""},
		{commands, &cluster.Template{Argv: []string{"bad"}}, "not allowed: worker n1 may not run bad"},
	} {
		n := newNode(t, c.change)
		_, got := attach(t, n, "s", 1).command(t, n, 0, "t", c.of, false)
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q, want %q", got, c.want)
		}
		if why := n.Refuses("", c.of); !strings.HasSuffix(got, why) || (why == "") != (got == "") {
			t.Errorf("refuses: %q, want that of %q", why, got)
		}
	}
}

func TestCommandsOfAnotherKind(t *testing.T) {
	n := newNode(t, commands)
	s := attach(t, n, "s", 1)
	a := s.place("t", shape(1, 1, 1))
	a.Command = &cluster.Command{Template: &cluster.Template{Argv: []string{"x"}}}
	reply, _, _ := n.Enqueue(0, s.message(n, a))
	expect(t, "type", reply.Refused[0].Code, cluster.InvalidTask)
	a = s.place("t", shape(1, 1, 1))
	a.Type = cluster.CommandType
	reply, _, _ = n.Enqueue(0, s.message(n, a))
	expect(t, "no command", reply.Refused[0].Code, cluster.UnknownType)
	a = s.place("t", shape(1, 1, 1))
	a.Type, a.TimeScale, a.Command = cluster.CommandType, 10, &cluster.Command{Template: &cluster.Template{Argv: []string{"x"}}}
	reply, _, _ = n.Enqueue(0, s.message(n, a))
	expect(t, "real work in scaled time", reply.Refused[0].Code, cluster.Unsupported)
}

// Two placements are of one task only when they mean the same command.
func TestTheSameCommand(t *testing.T) {
	n := newNode(t, commands)
	s := attach(t, n, "s", 1)
	of := &cluster.Template{Argv: []string{"x"}}
	s.command(t, n, 0, "t", of, false)
	if _, refusal := s.command(t, n, 0, "t", of, true); refusal != "" {
		t.Error(refusal)
	}
	if _, refusal := s.command(t, n, 0, "t", &cluster.Template{Argv: []string{"y"}}, false); !strings.HasPrefix(refusal, "duplicate task") {
		t.Errorf("another program: %q", refusal)
	}
	a := s.place("t", shape(1, 1, 1))
	a.Type, a.Command = cluster.CommandType, &cluster.Command{Digest: of.Digest(), Job: "j", Index: 5, Entries: []string{"other"}}
	reply, _, _ := n.Enqueue(0, s.message(n, a))
	expect(t, "another entry", codes(reply), " 4=duplicate task")
}

// Templates stay while tasks are held that use them; of the others the most recent ones stay, within the bound.
func TestTemplatesAreBounded(t *testing.T) {
	n := newNode(t, commands)
	s := attach(t, n, "s", 1)
	big := func(i int) *cluster.Template {
		return &cluster.Template{Argv: []string{"x", fmt.Sprint(i)}, Stdin: make([]byte, cluster.MaxStdin)}
	}
	s.command(t, n, 0, "held", big(0), false)
	const many = 20 // more than the bound
	for i := 1; i <= many; i++ {
		s.command(t, n, 0, fmt.Sprint(i), big(i), false)
		finished(n, 0, fmt.Sprint(i))
		notice, _ := n.Notice(0, "s", 10)
		n.Acknowledged(&notice)
		if _, refusal := s.command(t, n, 0, fmt.Sprint("first", i), big(1), true); refusal != "" {
			t.Fatalf("a template in use now and then was forgotten: %s", refusal)
		}
		finished(n, 0, fmt.Sprint("first", i))
		notice, _ = n.Notice(0, "s", 10)
		n.Acknowledged(&notice)
	}
	if n.templates.bytes > keepTemplates || n.templates.bytes < keepTemplates/2 {
		t.Errorf("%d bytes of templates that nobody uses", n.templates.bytes)
	}
	for i, want := range map[int]string{0: "", 1: "", many: "", 2: "unknown template"} {
		_, refusal := s.command(t, n, 0, fmt.Sprint("again", i), big(i), true)
		if !strings.HasPrefix(refusal, want) || (refusal == "") != (want == "") {
			t.Errorf("template %d: %q, want %q", i, refusal, want)
		}
	}
}

// What was refused is asked about again after a while: a program can be installed meanwhile.
func TestRefusalsAreNotForEver(t *testing.T) {
	asked, missing := 0, errors.New("worker n1 has no program x")
	n := newNode(t, commands, func(c *Config) {
		c.Judge = func(string, string, *cluster.Template) error { asked++; return missing }
	})
	s := attach(t, n, "s", 1)
	of := &cluster.Template{Argv: []string{"x"}}
	for i := range 5 {
		s.command(t, n, time.Duration(i)*time.Second, fmt.Sprint(i), of, i > 0)
	}
	expect(t, "asked", asked, 1)
	missing = nil
	if _, refusal := s.command(t, n, refusedFor, "later", of, true); refusal != "" || asked != 2 {
		t.Errorf("%q, asked %d times", refusal, asked)
	}
	s.command(t, n, time.Hour, "much later", of, true)
	expect(t, "asked", asked, 2)
}
