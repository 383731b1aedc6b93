package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docker/docker/api/types/container"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/executor/executortest"
	"dodoor/worker/spool"
)

func (f *fakeEngine) attach(ctx context.Context, _ string, in []byte, out, errs io.Writer) (<-chan error, error) {
	if err := f.step(ctx, "attach"); err != nil {
		return nil, err
	}
	fmt.Fprint(out, f.prints)
	errs.Write(in)
	done := make(chan error, 1)
	if f.listens {
		context.AfterFunc(ctx, func() { done <- ctx.Err() })
	} else {
		done <- f.lostOutput
	}
	return done, nil
}

// boxed is a task that runs a command in a container.
func boxed(t cluster.Template, entries ...string) worker.Start {
	s := executortest.Start(1, 64, 1000)
	s.Type, s.Executor, s.Image = cluster.CommandType, "docker", t.Image
	s.Attempt, s.Command = 1, &cluster.Command{Template: &t, Job: "j", Index: 3, Entries: entries}
	return s
}

func newSpool(t *testing.T) *spool.Spool {
	t.Helper()
	s, err := spool.New(spool.Config{Worker: "w", Folder: t.TempDir(), TaskBytes: 1 << 20, Bytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// spooled returns what is kept of a stream, and why that is not all.
func spooled(t *testing.T, s *spool.Spool, errs bool) (text, loss string) {
	t.Helper()
	c, err := s.Read(t.Context(), cluster.OutputRequest{TaskID: "t", Errors: errs, Max: 1 << 20}, false)
	if err != nil || !c.Ended {
		t.Errorf("%+v, %v", c, err)
	}
	return string(c.Data), c.Loss
}

// Whoever listens does so before the container can print, and the output is there before the task has ended.
func TestOutputOfCommands(t *testing.T) {
	for lost, want := range map[error]string{nil: "", errors.New("connection reset"): engineAway} {
		output := newSpool(t)
		synctest.Test(t, func(t *testing.T) {
			f := newFake(time.Second, 0, "all is well\n")
			f.lostOutput = lost
			d := f.executor()
			d.cfg.Commands, d.cfg.Spool = []string{"lab/tool:3"}, output
			r := d.Run(t.Context(), boxed(cluster.Template{Image: "lab/tool:3", Argv: []string{"{}"}, Stdin: []byte("in")}, "x"))
			if r.Outcome != cluster.Finished || r.Printed != 14 || r.Output != "all is well\nin" {
				t.Errorf("%+v", r)
			}
			if got := strings.Join(f.calls, " "); got != "create wait attach start inspect remove" {
				t.Errorf("requests: %s", got)
			}
		})
		out, loss := spooled(t, output, false)
		errs, _ := spooled(t, output, true)
		if out != "all is well\n" || errs != "in" || loss != want {
			t.Errorf("%q, %q, %q", out, errs, loss)
		}
	}
}

// A container that did not start leaves nobody listening.
func TestCommandsThatDoNotStart(t *testing.T) {
	output := newSpool(t)
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Second, 0, "")
		d := f.executor()
		d.cfg.Commands, d.cfg.Spool = []string{anyImage}, output
		f.listens = true
		f.once("start", func(context.Context) error { return errors.New("no such program") })
		if r := d.Run(t.Context(), boxed(cluster.Template{Image: "x", Argv: []string{"y"}})); r.Outcome != cluster.Failed {
			t.Errorf("%+v", r)
		}
		if names := f.names(); len(names) > 0 {
			t.Errorf("there are %v", names)
		}
	})
}

func TestProgramOfACommand(t *testing.T) {
	d := newFake(0, 0, "").executor()
	s := boxed(cluster.Template{Image: "x", Argv: []string{"{}", "{#}"}, Env: []string{"A=1"}, Workdir: "/w", Stdin: []byte("x")}, "a b")
	s.Shape.Demand[cluster.Memory] = 0
	c := &container.Config{}
	if err := d.command(c, &s); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(len(c.Cmd), c.Cmd, c.Entrypoint) != "1 [3] [a b]" || c.WorkingDir != "/w" || !c.OpenStdin || !c.StdinOnce ||
		c.Env[0] != "A=1" {
		t.Errorf("%+v", c)
	}
	if h := d.confinement(&s); h.Memory != 0 || h.MemorySwap != 0 {
		t.Errorf("memory is limited to %d and %d", h.Memory, h.MemorySwap)
	}
}

// The program is the task's: nothing of it goes to what the image would start, and that never runs in its place.
func TestTheProgramIsTheEntrypoint(t *testing.T) {
	d := newFake(0, 0, "").executor()
	for _, c := range []struct {
		of      cluster.Template
		entries []string
		want    string // empty: it fails
	}{
		{cluster.Template{Argv: []string{"tool", "{}"}}, []string{"x"}, "[tool] [x]"},
		{cluster.Template{Argv: []string{"tool"}}, nil, "[tool] []"},
		{cluster.Template{Script: []byte("echo"), Argv: []string{"{}"}}, []string{"x"}, "[/bin/sh] [-c echo script x]"},
		{cluster.Template{Script: []byte("#!/usr/bin/env python3")}, nil, "[python3] [-c #!/usr/bin/env python3]"},
		{cluster.Template{Argv: []string{"{}", "x"}}, []string{""}, ""},
		{cluster.Template{Argv: []string{"{}"}}, nil, ""},
	} {
		s, config := boxed(c.of, c.entries...), &container.Config{}
		err := d.command(config, &s)
		if (err != nil) != (c.want == "") || err == nil && fmt.Sprint(config.Entrypoint, config.Cmd) != c.want {
			t.Errorf("%v: %v %v, %v; want %s", c.of.Argv, config.Entrypoint, config.Cmd, err, c.want)
		}
	}
}

// An engine that is started again hangs up in order. What was printed meanwhile is missing, so that is said.
func TestOutputAcrossARestartOfTheEngine(t *testing.T) {
	output := newSpool(t)
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Minute, 0, "first half\n")
		d := f.executor()
		d.cfg.Commands, d.cfg.Spool = []string{anyImage}, output
		go func() {
			<-time.After(10 * time.Second)
			f.takenDown(context.Background())
			<-time.After(time.Second)
			f.set(false)
		}()
		if r := d.Run(t.Context(), boxed(cluster.Template{Image: "x", Argv: []string{"y"}})); r.Outcome != cluster.Finished {
			t.Errorf("%+v", r)
		}
	})
	if text, loss := spooled(t, output, false); text != "first half\n" || loss != engineAway {
		t.Errorf("%q, %q", text, loss)
	}
}

func TestImagesThatAreAllowed(t *testing.T) {
	for _, c := range []struct {
		allow []string
		t     cluster.Template
		want  string
	}{
		{nil, cluster.Template{Image: "x", Argv: []string{"y"}}, "docker.images is empty on worker w"},
		{[]string{"x"}, cluster.Template{Image: "x", Argv: []string{"y"}}, ""},
		{[]string{"*"}, cluster.Template{Image: "x", Argv: []string{"y"}}, ""},
		{[]string{"z"}, cluster.Template{Image: "x", Argv: []string{"y"}},
			`worker w may not run image x: docker.images has only z; add it, or "*"`},
		{[]string{"*"}, cluster.Template{Argv: []string{"y"}}, "name an image"},
		{[]string{"*"}, cluster.Template{Image: "x", Argv: []string{"y"}, Workdir: "w"}, "absolute path of the container"},
		{[]string{"*"}, cluster.Template{Image: "x", Script: []byte("echo")}, ""},
		{[]string{"*"}, cluster.Template{Image: "x", Script: []byte("#!/usr/bin/awk -f\n")}, "a script of /usr/bin/awk cannot run in"},
		{[]string{"*"}, cluster.Template{Image: "x", Script: make([]byte, executor.MaxArgument+1)}, "a script of 131072 bytes cannot run in"},
	} {
		d := newFake(0, 0, "").executor()
		d.cfg.Commands = c.allow
		err := d.Allows("", &c.t)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %+v: %v, want %q", c.allow, c.t, err, c.want)
		}
		if r := d.Run(t.Context(), boxed(c.t)); c.want != "" && (r.Outcome != cluster.Failed || r.Reason != err.Error()) {
			t.Errorf("%+v", r)
		}
	}
}

// Commands on a real engine: input, both streams, exit codes, and what they find around them.
func TestCommandsInContainers(t *testing.T) {
	d := needEngine(t)
	d.cfg.Commands, d.cfg.Spool = []string{"*"}, newSpool(t)
	for _, c := range []struct {
		t         cluster.Template
		out, errs string
		code      int
	}{
		{cluster.Template{Argv: []string{"/task", "print={}", "error=$A {#}", "exit=3"}}, "a  b\n", "$A 3\n", 3},
		{cluster.Template{Argv: []string{"/task", "stdin"}, Stdin: []byte("four")}, "read 4 bytes\n", "", 0},
		{cluster.Template{Argv: []string{"/task", "stdin"}}, "read 0 bytes\n", "", 0},
	} {
		c.t.Image = bareImage
		s := boxed(c.t, "a  b")
		r := d.Run(t.Context(), s)
		out, loss := spooled(t, d.cfg.Spool, false)
		errs, _ := spooled(t, d.cfg.Spool, true)
		if out != c.out || errs != c.errs || loss != "" || r.ExitCode != c.code || r.Printed != int64(len(out)+len(errs)) {
			t.Errorf("%v: %q, %q, %q, %+v", c.t.Argv, out, errs, loss, r)
		}
	}
}
