package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
)

// fakeVersion is a version of control groups without a kernel, as far as these tests ask.
type fakeVersion struct {
	cgroup.Version
	root          string
	before, after error
}

func (v fakeVersion) Roots() []string { return []string{v.root} }

func (v fakeVersion) Start(_ *cgroup.Group, _ *syscall.SysProcAttr, fork func() error) error {
	if v.before != nil {
		return v.before
	}
	return errors.Join(fork(), v.after)
}

func (fakeVersion) Delegate(string) error { return nil }

func (fakeVersion) Confine(*cgroup.Group) error { return nil }

func (fakeVersion) Renewable() bool { return false }

func (fakeVersion) Renew(*cgroup.Group) bool { return false }

// fakeGroups returns groups in a folder.
func fakeGroups(t *testing.T, v fakeVersion) (groups *cgroup.Groups, root string) {
	t.Helper()
	v.root = t.TempDir()
	groups, err := cgroup.New(v, "w")
	if err != nil {
		t.Fatal(err)
	}
	return groups, v.root
}

// A task that did not begin is lost; one that did, and could not be limited, is ended and has failed.
func TestGroupsThatDoNotTakePrograms(t *testing.T) {
	for want, v := range map[string]fakeVersion{
		"lost: start the program: no way in":              {before: errors.New("no way in")},
		"failed: start the program: no limit":             {after: errors.New("no limit")},
		"lost: start the program: fork/exec: unavailable": {before: fmt.Errorf("fork/exec: %w", errors.New("unavailable"))},
	} {
		p := newProcess(t, off)
		p.rule.Groups, _ = fakeGroups(t, v)
		file := filepath.Join(t.TempDir(), "pids")
		r := p.Run(t.Context(), p.task(1, 64, "pid="+file, "sleep=1h"))
		if got := fmt.Sprintf("%v: %s", r.Outcome, r.Reason); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		p.rule.Groups = nil
	}
	p := newProcess(t, off)
	groups, root := fakeGroups(t, fakeVersion{})
	if err := os.RemoveAll(filepath.Join(root, cgroup.Parent)); err != nil {
		t.Fatal(err)
	}
	p.rule.Groups = groups
	if r := p.Run(t.Context(), p.task(1, 64)); r.Outcome != cluster.Lost ||
		!strings.Contains(r.Reason, "cannot limit the task: control group: mkdir") {
		t.Errorf("%+v", r)
	}
	p.rule.Groups = nil
}
