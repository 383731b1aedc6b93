package docker

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// The waiting begins before the container can end, and the container is gone before the task is.
func TestOrderOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(3*time.Second, 0, "all is well\n")
		f.sample.CPUStats.CPUUsage.TotalUsage, f.sample.MemoryStats.MaxUsage = 2e9, 20<<20+1
		f.before["start"] = takes(200 * time.Millisecond)
		begin := time.Now()
		r := f.executor().Run(t.Context(), contained(1, 64, "print=x"))
		want := worker.Result{Outcome: cluster.Finished, Measured: cluster.Measured{
			CPU: 2 * time.Second, PeakMemory: 21, Startup: 200 * time.Millisecond, Output: "all is well"}}
		if r != want {
			t.Errorf("%+v, want %+v", r, want)
		}
		if got := strings.Join(f.calls, " "); got != "create wait start inspect logs remove" {
			t.Errorf("requests: %s", got)
		}
		if took := time.Since(begin); took != 3200*time.Millisecond || len(f.names()) > 0 {
			t.Errorf("%v, and there are %v", took, f.names())
		}
	})
}

// takes is a step that the engine needs some time for.
func takes(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestConfinement(t *testing.T) {
	d := newFake(0, 0, "").executor()
	s := contained(0.25, 100, "sleep=1s")
	pids := int64(9)
	want := &container.HostConfig{
		Resources:   container.Resources{NanoCPUs: 250_000_000, Memory: 100 << 20, MemorySwap: 100 << 20, PidsLimit: &pids},
		NetworkMode: "none", ReadonlyRootfs: true, CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"}, OomScoreAdj: 500,
		Tmpfs:   map[string]string{"/tmp": "rw,noexec,nosuid,nodev,mode=1777,size=16m"},
		IpcMode: "private", ShmSize: 16 << 20,
		LogConfig:     container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "64k", "max-file": "2"}},
		RestartPolicy: container.RestartPolicy{Name: "no"},
	}
	if got := d.confinement(&s); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	d.cfg.TmpfsMB = 0
	want.Tmpfs, want.IpcMode, want.ShmSize = nil, "none", 0
	if got := d.confinement(&s); !reflect.DeepEqual(got, want) {
		t.Errorf("nowhere to write: %+v\nwant %+v", got, want)
	}
	nothing := contained(0, 0)
	if h := d.confinement(&nothing); h.NanoCPUs != 10_000_000 || h.Memory != 6<<20 || h.MemorySwap != 6<<20 {
		t.Errorf("no demand is not no limit: %+v", h.Resources)
	}
	program := &container.Config{Image: taskImage, Cmd: []string{"sleep=1s"}, User: "1:2",
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      map[string]string{"dodoor.worker": "w", "dodoor.task": "t", "dodoor.owner": self}}
	if got := d.program(&s); !reflect.DeepEqual(got, program) {
		t.Errorf("%+v\nwant %+v", got, program)
	}
}

func TestOnlyTheEndOfContainerOutputIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(time.Second, 1, strings.Repeat("0123456789\n", 1e5)+"\xff the end")
		r := f.executor().Run(t.Context(), contained(1, 64))
		if len(r.Output) > executor.TailBytes || !strings.HasSuffix(r.Output, "9\n? the end") || r.Reason != "exit status 1\n"+r.Output {
			t.Errorf("%d bytes: %q", len(r.Output), r.Output)
		}
	})
}

func TestWhatCannotBeMade(t *testing.T) {
	for _, c := range []struct {
		step    string
		err     error
		outcome cluster.Outcome
		reason  string
	}{
		{"create", errdefs.ErrNotFound, cluster.Lost, "image " + taskImage + " is not on the engine of worker w: build or load it there"},
		{"create", fmt.Errorf("range of CPUs: %w", errdefs.ErrInvalidArgument), cluster.Failed, "make the container: range of CPUs"},
		{"wait", fmt.Errorf("no such container: %w", errdefs.ErrNotFound), cluster.Failed, "make the container: no such container"},
		{"start", fmt.Errorf("no such program: %w", errdefs.ErrInvalidArgument), cluster.Failed, "start the container: no such program"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake(time.Hour, 127, "")
			f.before[c.step] = func(context.Context) error { return c.err }
			r := f.executor().Run(t.Context(), contained(1, 64))
			if r.Outcome != c.outcome || !strings.HasPrefix(r.Reason, c.reason) || (r.ExitCode == 127) != (c.step == "start") {
				t.Errorf("%s: %+v", c.step, r)
			}
			if left := f.names(); len(left) > 0 {
				t.Errorf("%s: %v are left", c.step, left)
			}
		})
	}
}

// Wherever an execution is when its context ends, the container is gone before it returns, and the
// context says how it ended.
func TestEndedAtEveryStep(t *testing.T) {
	ends := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": context.WithCancel,
		"timed-out": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 10*time.Second)
		},
	}
	for outcome, derive := range ends {
		for _, step := range []string{"", "create", "wait", "start", "inspect", "stats", "running"} {
			t.Run(outcome+" "+step, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFake(time.Hour, 0, "some words")
					begin := time.Now()
					ctx, cancel := derive(t.Context())
					defer cancel()
					end := func(context.Context) error {
						if outcome == "cancelled" {
							cancel()
						}
						<-ctx.Done()
						return nil
					}
					switch step {
					case "":
						end(ctx)
					case "running":
						time.AfterFunc(5*time.Second, func() { end(ctx) })
					default:
						f.before[step] = end
					}
					r := f.executor().Run(ctx, contained(1, 64))
					if r.Outcome.String() != outcome || r.ExitCode != executor.NoExitCode {
						t.Errorf("%+v", r)
					}
					ended := map[string]time.Duration{"timed-out": 10 * time.Second, "cancelled running": 5 * time.Second}
					if late := time.Since(begin) - max(ended[outcome], ended[outcome+" "+step]); late != 0 {
						t.Errorf("%v after its context", late)
					}
					if began := slices.Contains(f.calls, "start"); began && r.Output != "some words" {
						t.Errorf("what is known is missing: %+v", r)
					}
					if left := f.names(); len(left) > 0 || (step == "") != (f.most == 0) {
						t.Errorf("%v are left of %d", left, f.most)
					}
					if started := slices.Contains(f.calls, "start"); started != slices.Contains(f.calls, "kill") {
						t.Errorf("requests: %v", f.calls)
					}
				})
			})
		}
	}
}

// Many executions share an executor; ends, failures and losses happen all at once.
func TestConcurrentExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(2*time.Second, 0, "out")
		d := f.executor()
		var group sync.WaitGroup
		var mu sync.Mutex
		outcomes := map[cluster.Outcome]int{}
		for i := range 300 {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				switch i % 3 {
				case 1:
					ctx, cancel = context.WithTimeout(t.Context(), time.Second)
				case 2:
					ctx, cancel = context.WithCancel(t.Context())
					time.AfterFunc(1500*time.Millisecond, cancel)
				}
				defer cancel()
				r := d.Run(ctx, contained(1, 64))
				d.Ready()
				mu.Lock()
				outcomes[r.Outcome]++
				mu.Unlock()
			})
		}
		group.Wait()
		if outcomes[cluster.Finished] != 100 || outcomes[cluster.TimedOut] != 100 || outcomes[cluster.Cancelled] != 100 {
			t.Errorf("outcomes: %v", outcomes)
		}
		if f.most != 300 || len(f.names()) > 0 || len(d.names) > 0 {
			t.Errorf("%d at a time; left: %v, in use: %v", f.most, f.names(), d.names)
		}
	})
}

func TestBadEngineAddress(t *testing.T) {
	for _, host := range []string{"ssh://somewhere", "nothing", "unix://", "fd://3"} {
		if _, err := New(Config{Host: host}); err == nil || !strings.HasPrefix(err.Error(), "executor docker: ") {
			t.Errorf("%s: %v", host, err)
		}
		if CheckHost(host) == nil {
			t.Errorf("%s passes for an engine's address", host)
		}
	}
	d, err := New(Config{Host: "unix://" + t.TempDir() + "/none.sock"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "none.sock") ||
		!strings.Contains(err.Error(), "apt-get install docker.io") {
		t.Errorf("Check: %v", err)
	}
	if err := d.Ready(); err == nil || errors.Unwrap(err) == nil || d.Emulates() {
		t.Errorf("Ready: %v", err)
	}
}

// A worker that gave every task back would look idle and get them all: neither does one start without an
// image, nor is it ready when one is gone.
func TestAbsentImagesAreFound(t *testing.T) {
	f := newFake(0, 0, "")
	d := f.executor()
	d.cfg.Images = []string{"there:1", "absent:1"}
	looks := 0
	f.before["image"] = func(context.Context) error {
		if looks++; looks%2 == 0 {
			return fmt.Errorf("no such image: %w", errdefs.ErrNotFound)
		}
		return nil
	}
	for what, look := range map[string]func() error{"start": d.Check, "ready": d.Ready} {
		if err := look(); err == nil || !strings.Contains(err.Error(), "image absent:1 is not on the engine") {
			t.Errorf("%s: got %v", what, err)
		}
	}
}
