package confine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"dodoor/internal/cgroup"
	"dodoor/internal/needs"
	"dodoor/internal/procgroup"
	"dodoor/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeVersion is a version of control groups without a kernel, as far as these tests ask.
type fakeVersion struct {
	cgroup.Version
	root  string
	noWay error
}

func (v fakeVersion) Roots() []string { return []string{v.root} }

func (v fakeVersion) Start(_ *cgroup.Group, _ *syscall.SysProcAttr, fork func() error) error {
	if v.noWay != nil {
		return v.noWay
	}
	return fork()
}

func (fakeVersion) Delegate(string) error { return nil }

func (fakeVersion) Confine(*cgroup.Group) error { return nil }

// A worker whose groups take no programs says so at once, and leaves none.
func TestGroupsAreTried(t *testing.T) {
	for _, noWay := range []error{errors.New("no way in"), nil} {
		v := fakeVersion{root: t.TempDir(), noWay: noWay}
		groups, err := cgroup.New(v, "w")
		if err != nil {
			t.Fatal(err)
		}
		err = try(groups)
		if !errors.Is(err, noWay) || noWay != nil && !strings.Contains(err.Error(), "start a program in control group dodoor/w/") {
			t.Errorf("%v", err)
		}
		if left, err := os.ReadDir(filepath.Join(v.root, cgroup.Parent, "w")); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// What cannot have limits goes without, unless it must not.
func TestLimitsThatCannotBeHad(t *testing.T) {
	for mode, fails := range map[string]bool{Auto: false, Off: false, Required: true} {
		r, err := New(Config{Executor: "x", Worker: "w", Cgroup: mode})
		if err != nil {
			t.Fatal(err)
		}
		r.Root = t.TempDir()
		if err := r.Check(); (err != nil) != fails || (r.Unlimited() != nil) != (mode == Auto) {
			t.Errorf("%s: %v, %v", mode, err, r.Unlimited())
		}
		if g, err := r.Group(nil); g != nil || err != nil {
			t.Errorf("%s: %v, %v", mode, g, err)
		}
		r.Release(nil)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := New(Config{Executor: "x", Cgroup: "never"}); err == nil || !strings.Contains(err.Error(), `found "never"`) {
		t.Errorf("%v", err)
	}
}

// The group of a task stays this process's: with the right to change one a user's task could change its neighbours'.
func TestGroupsAreNotTheUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Real(t, errors.New("only root runs programs as another user"))
	}
	user, err := procgroup.FindUser("")
	if err != nil {
		t.Fatal(err)
	}
	v := fakeVersion{root: t.TempDir()}
	groups, err := cgroup.New(v, "w")
	if err != nil {
		t.Fatal(err)
	}
	r := &Rule{Config: Config{User: user}, Groups: groups}
	g, err := r.Group(&worker.Start{TaskID: "t"})
	if err != nil {
		t.Fatal(err)
	}
	var info syscall.Stat_t
	if err := syscall.Stat(filepath.Join(v.root, g.Name()), &info); err != nil || info.Uid != 0 || info.Mode&0o022 != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}
