package executor

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dodoor/internal/needs"
	"dodoor/worker"
)

// buildProgram returns testdata/task as an executable.
var buildProgram = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "executor-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "task")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./testdata/task")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// install puts the program where the test can run it.
func install(t *testing.T) (path string) {
	t.Helper()
	binary, err := buildProgram()
	path = filepath.Join(t.TempDir(), "task")
	if err == nil {
		err = os.WriteFile(path, binary, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// newProcess returns an executor whose programs are those given, and testdata/task the first of them. In
// the end nothing of its tasks may be left.
func newProcess(t *testing.T, cgroup string, others ...string) *Process {
	t.Helper()
	eventually(t, "the processes of earlier tests are gone", func() bool { return len(descendants()) == 0 })
	program, temporary := install(t), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	p, err := NewProcess(ProcessConfig{Allow: append([]string{program}, others...), Cgroup: cgroup, Worker: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		if cgroup != cgroupRequired {
			t.Fatal(err)
		}
		needs.Real(t, err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, p, temporary)
	})
	return p
}

func nothingLeft(t *testing.T, p *Process, temporary string) {
	t.Helper()
	if left := descendants(); len(left) > 0 {
		t.Errorf("%d processes are left: %v", len(left), left)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left: %v, %v", len(left), left, err)
	}
	if left := taskGroups(t, p.owner); len(left) > 0 {
		t.Errorf("%d control groups are left: %v", len(left), left)
	}
}

// taskGroups lists the folders of a process's control groups.
func taskGroups(t *testing.T, owner string) (all []string) {
	t.Helper()
	version, err := findCgroups(cgroupRoot)
	if err != nil {
		return nil
	}
	return (&cgroup{version: version, name: filepath.Join(cgroupHome, owner)}).folders()
}

// task is a task that runs steps of testdata/task.
func (p *Process) task(cores float64, memory int64, steps ...string) worker.Start {
	s := start(cores, memory, 1000)
	s.Type, s.Mode, s.Executor = "native", "any", "process"
	s.Argv = append([]string{p.cfg.Allow[0]}, steps...)
	return s
}

// noted waits until processes have noted their numbers in a file.
func noted(t *testing.T, file string, n int) (pids []int) {
	t.Helper()
	eventually(t, "processes note their numbers", func() bool {
		text, _ := os.ReadFile(file)
		pids = nil
		for line := range strings.Lines(string(text)) {
			if pid, err := strconv.Atoi(strings.TrimSuffix(line, "\n")); err == nil && strings.HasSuffix(line, "\n") {
				pids = append(pids, pid)
			}
		}
		return len(pids) == n
	})
	return pids
}

// runs runs a task and returns the function that waits for its end.
func runs(t *testing.T, run func() worker.Result) (ended func() worker.Result) {
	t.Helper()
	results := make(chan worker.Result, 1)
	go func() { results <- run() }()
	return func() worker.Result { return <-results }
}
