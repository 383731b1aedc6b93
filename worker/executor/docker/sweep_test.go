package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"

	"dodoor/internal/procfs"
)

// self is this process.
var self = func() string {
	identity, err := procfs.Identity(os.Getpid())
	if err != nil {
		panic(err)
	}
	return identity
}()

func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(0, 0, "")
		d := f.executor()
		boot, rest, _ := strings.Cut(self, "/")
		pid, ticks, _ := strings.Cut(rest, "/")
		for name, owner := range map[string]string{
			"dead":                     boot + "/4194304/" + ticks, // more than there can be
			"dead, its number reused":  boot + "/" + pid + "/1",
			"of an earlier boot":       "0-0-0/" + pid + "/" + ticks,
			"of executortest.Nobody":   "",
			"of somebody odd":          "a/b/c",
			"left behind by ourselves": self,
			"in use":                   self,
		} {
			f.put(owned{"id of " + name, name, owner}, "w")
		}
		parent, err := procfs.Identity(os.Getppid())
		if err != nil {
			t.Fatal(err)
		}
		f.put(owned{"alive", "alive", parent}, "w")
		f.put(owned{"other", "of another worker", "0-0-0/1/1"}, "v")
		d.names["in use"] = true
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		if left := f.names(); !slices.Equal(left, []string{"alive", "in use", "of another worker"}) || d.Swept() != 6 {
			t.Errorf("swept %d, left %v", d.Swept(), left)
		}
	})
}

// A worker starts without an engine's help in cleaning up, and tries again later.
func TestSweepGoesOnLater(t *testing.T) {
	for _, failure := range []error{fmt.Errorf("device is busy: %w", errdefs.ErrInternal), errDown} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(time.Second, 0, "")
			d := f.executor()
			for i := range 3 {
				f.put(owned{fmt.Sprint(i), fmt.Sprint(i), "0-0-0/1/1"}, "w")
			}
			f.before["remove"] = func(context.Context) error { return failure }
			if err := d.Check(); err != nil || d.Swept() != 0 {
				t.Errorf("swept %d, %v", d.Swept(), err)
			}
			if tries, want := strings.Count(strings.Join(f.calls, " "), "remove"), 3; unreachable(failure) && tries != 1 || !unreachable(failure) &&
				tries != want {
				t.Errorf("%v: %d tries", failure, tries)
			}
			delete(f.before, "remove")
			f.once("list", func(context.Context) error { return errDown })
			if err := d.Ready(); err != nil || len(f.names()) != 3 {
				t.Errorf("%v; left: %v", err, f.names())
			}
			if err := d.Ready(); err != nil || len(f.names()) != 0 {
				t.Errorf("%v; left: %v", err, f.names())
			}
		})
	}
}

func TestCheckNeedsTheEngine(t *testing.T) {
	for _, step := range []string{"ping", "list"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(0, 0, "")
			f.before[step] = func(context.Context) error { return errDown }
			if err := f.executor().Check(); !errors.Is(err, errDown) || !strings.HasPrefix(err.Error(), "executor docker: ") {
				t.Errorf("%s: %v", step, err)
			}
		})
	}
}
