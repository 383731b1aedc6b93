package process

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"dodoor/internal/cgroup"
	"dodoor/internal/needs"
	"dodoor/worker"
	"dodoor/worker/executor/confine"
	"dodoor/worker/executor/executortest"
)

// What Config.Cgroup can be.
const (
	auto     = confine.Auto
	required = confine.Required
	off      = confine.Off
)

// newProcess returns an executor whose programs are those given, and testdata/task the first of them. In
// the end nothing of its tasks may be left.
func newProcess(t *testing.T, limits string, others ...string) *Executor {
	t.Helper()
	executortest.Eventually(t, "the processes of earlier tests are gone", func() bool { return len(executortest.Descendants()) == 0 })
	program, temporary := executortest.Install(t), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	p, err := New(Config{Allow: append([]string{program}, others...), Cgroup: limits, Worker: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		if limits != required {
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

func nothingLeft(t *testing.T, p *Executor, temporary string) {
	t.Helper()
	if left := executortest.Descendants(); len(left) > 0 {
		t.Errorf("%d processes are left: %v", len(left), left)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%d temporary files are left: %v, %v", len(left), left, err)
	}
	if left := taskGroups(t, p.rule.Owner); len(left) > 0 {
		t.Errorf("%d control groups are left: %v", len(left), left)
	}
}

// taskGroups lists the folders of a process's control groups.
func taskGroups(t *testing.T, owner string) (all []string) {
	t.Helper()
	version, err := cgroup.Find(cgroup.Root)
	if err != nil {
		return nil
	}
	for _, root := range version.Roots() {
		_ = filepath.WalkDir(filepath.Join(root, cgroup.Parent, owner), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				all = append(all, path)
			}
			return nil // what is not there is not left
		})
	}
	return all
}

// task is a task that runs steps of testdata/task.
func (p *Executor) task(cores float64, memory int64, steps ...string) worker.Start {
	s := executortest.Start(cores, memory, 1000)
	s.Type, s.Mode, s.Executor = "native", "any", "process"
	s.Argv = append([]string{p.cfg.Allow[0]}, steps...)
	return s
}

// runs runs a task and returns the function that waits for its end.
func runs(t *testing.T, run func() worker.Result) (ended func() worker.Result) {
	t.Helper()
	results := make(chan worker.Result, 1)
	go func() { results <- run() }()
	return func() worker.Result { return <-results }
}

// everybodys is what holds for tasks that nobody in particular has submitted.
func everybodys(t testing.TB, p *Executor) *rules {
	t.Helper()
	r, err := p.rulesOf("")
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// spareFolders are all those of an executor.
func spareFolders(p *Executor) (all []string) {
	for _, folders := range p.spares.folders {
		all = append(all, folders...)
	}
	return all
}
