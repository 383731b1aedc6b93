package process

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker/executor"
	"dodoor/worker/executor/executortest"
)

func TestProcessConfig(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Cgroup: "auto"}, ""},
		{Config{Cgroup: "never"}, `process.cgroup must be auto, required or off, found "never"`},
		{Config{Cgroup: "off", Allow: []string{"ls"}}, `process.allow must list absolute paths, found "ls"`},
	} {
		p, err := New(c.cfg)
		if c.want == "" && (err != nil || p.Emulates()) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

func TestProgramsHaveToBeThere(t *testing.T) {
	dir := t.TempDir()
	plain, program, link := filepath.Join(dir, "plain"), executortest.Install(t), filepath.Join(dir, "link")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		allow []string
		want  string
	}{
		{[]string{program, link}, ""},
		{nil, "process.allow is empty"},
		{[]string{program, dir}, dir + " is not a file"},
		{[]string{plain}, plain + " is not executable"},
		{[]string{dir + "/missing"}, dir + "/missing: no such file or directory: install it here, or take it off the list"},
	} {
		p, err := New(Config{Allow: c.allow, Cgroup: off})
		if err != nil {
			t.Fatal(err)
		}
		err = p.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.allow, err, c.want)
		}
	}
}

// What cannot have limits runs without, unless it must not.
func TestLimitsThatCannotBeHad(t *testing.T) {
	for mode, want := range map[string]string{auto: "", off: "", required: "process.cgroup is required, but"} {
		p, err := New(Config{Allow: []string{executortest.Install(t)}, Cgroup: mode, Worker: "w"})
		if err != nil {
			t.Fatal(err)
		}
		p.rule.Root = t.TempDir()
		err = p.Check()
		if mode == required {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), p.rule.Root) {
				t.Errorf("%s: %v", mode, err)
			}
			continue
		}
		if err != nil || (p.Unlimited() != nil) != (mode == auto) {
			t.Errorf("%s: %v, %v", mode, err, p.Unlimited())
		}
		executortest.Finished(t, p.Run(t.Context(), p.task(1, 64, "print=x")))
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestProgramsRunToTheirEnd(t *testing.T) {
	for _, mode := range []string{off, required} {
		t.Run(mode, func(t *testing.T) {
			p := newProcess(t, mode)
			for _, c := range []struct {
				steps    []string
				outcome  cluster.Outcome
				exitCode int
				output   string
				reason   string
			}{
				{nil, cluster.Finished, 0, "", ""},
				{[]string{"print=a  b; $HOME *", "error=x"}, cluster.Finished, 0, "a  b; $HOME *\nx", ""},
				{[]string{"stdin"}, cluster.Finished, 0, "read 0 bytes", ""},
				{[]string{"error=disk on fire", "exit=7"}, cluster.Failed, 7, "disk on fire", "exit status 7\ndisk on fire"},
				{[]string{"die=15"}, cluster.Failed, 143, "", "killed by signal 15 (terminated)"},
				{[]string{"die=9"}, cluster.Failed, 137, "", "killed by signal 9 (killed)"},
			} {
				r := p.Run(t.Context(), p.task(1, 64, c.steps...))
				if r.Outcome != c.outcome || r.ExitCode != c.exitCode || r.Output != c.output || r.Reason != c.reason ||
					r.OutOfMemory || r.Startup <= 0 || r.CPU <= 0 {
					t.Errorf("%v: %+v", c.steps, r)
				}
			}
			r := p.Run(t.Context(), p.task(1, 64, "lines=20000"))
			if len(r.Output) > executor.TailBytes || !strings.HasSuffix(r.Output, "line 19999") {
				t.Errorf("%d bytes: %q", len(r.Output), r.Output)
			}
		})
	}
}

func TestPrograms(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd")
	if err := os.WriteFile(odd, []byte("odd"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := newProcess(t, off, odd)
	for _, c := range []struct{ argv, want string }{
		{"", "task type native names no program"},
		{"/bin/sh -c true", `worker ` + t.Name() + ` may not run "/bin/sh": process.allow has only ` + strings.Join(p.cfg.Allow, ", ")},
		{p.cfg.Allow[0] + "x", "may not run"},
		{filepath.Dir(p.cfg.Allow[0]) + "/./task", "may not run"},
		{odd, "start the program: fork/exec " + odd + ": exec format error"},
	} {
		s := p.task(1, 64)
		s.Argv = strings.Fields(c.argv)
		if r := p.Run(t.Context(), s); r.Outcome != cluster.Failed || r.ExitCode != -1 || !strings.Contains(r.Reason, c.want) {
			t.Errorf("%q: %+v", c.argv, r)
		}
	}
}

func TestSurroundings(t *testing.T) {
	p := newProcess(t, auto)
	t.Setenv("DODOOR_SECRET", "x")
	r := p.Run(t.Context(), p.task(1, 64, "where"))
	executortest.Finished(t, r)
	first, rest, _ := strings.Cut(r.Output, "\n")
	folder, others, _ := strings.Cut(first, " ")
	if others != "drwx------ /dev/null" || filepath.Dir(folder) != os.TempDir() {
		t.Errorf("works in %s", first)
	}
	want := "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\nLC_ALL=C\nTMPDIR=" + folder + "\nHOME=" + folder
	if rest != want {
		t.Errorf("environment:\n%s\nwant\n%s", rest, want)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", folder, err)
	}
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64, "files=here"))) // and they are not there afterwards, either
}

func TestMachinesThatLackSomething(t *testing.T) {
	p := newProcess(t, off)
	t.Run("folder", func(t *testing.T) {
		t.Setenv("TMPDIR", "/proc/self/missing")
		if r := p.Run(t.Context(), p.task(1, 64)); r.Outcome != cluster.Lost || !strings.Contains(r.Reason, "cannot make a folder for the task") {
			t.Errorf("%+v", r)
		}
	})
	for err, outcome := range map[error]cluster.Outcome{syscall.EAGAIN: cluster.Lost, syscall.ENOENT: cluster.Failed,
		syscall.E2BIG: cluster.Failed} {
		r := notRun(nil, fmt.Errorf("x: %w", &fs.PathError{Op: "fork/exec", Path: "y", Err: err}))
		if r.Outcome != outcome || !strings.Contains(r.Reason, err.Error()) {
			t.Errorf("%v: %+v", err, r)
		}
	}
}

// The processes' memory is seen without a control group as well.
func TestMemoryIsMeasured(t *testing.T) {
	for _, mode := range []string{off, required} {
		t.Run(mode, func(t *testing.T) {
			p := newProcess(t, mode)
			r := p.Run(t.Context(), p.task(1, 256, "child=grow=100", "grow=50", "sleep=300ms"))
			executortest.Finished(t, r)
			if r.PeakMemory < 50 || r.PeakMemory > 250 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestCancelledBeforeItBegan(t *testing.T) {
	p := newProcess(t, off)
	ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
	defer cancel()
	if r := p.Run(ctx, p.task(1, 64, "exit=1")); r.Outcome != cluster.TimedOut {
		t.Errorf("%+v", r)
	}
}
