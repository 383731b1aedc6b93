package docker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"go.uber.org/goleak"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/executor/executortest"
)

func TestContainersRunToTheirEnd(t *testing.T) {
	d := needEngine(t)
	for _, c := range []struct {
		image    string
		argv     []string
		cores    float64
		outcome  cluster.Outcome
		exitCode int
		says     string // the reason of a failure, or else the output
	}{
		{taskImage, []string{"print=a b", "sleep=200ms", "print=$HOME"}, 1, cluster.Finished, 0, "a b\n$HOME"},
		{taskImage, []string{"lines=20000", "exit=7"}, 1, cluster.Failed, 7, "exit status 7\n"},
		{bareImage, []string{"/task", "print=x"}, 1, cluster.Finished, 0, "x"},
		{bareImage, []string{"nope"}, 1, cluster.Failed, 127, `start the container: Error response from daemon: `},
		{bareImage, []string{"/plain"}, 1, cluster.Failed, 126, `start the container: Error response from daemon: `},
		{bareImage, nil, 1, cluster.Failed, -1, "make the container: Error response from daemon: "},
		{taskImage, nil, 100_000, cluster.Failed, -1, "make the container: Error response from daemon: "},
		{"dodoor/not-built", nil, 1, cluster.Lost, -1, "image dodoor/not-built is not on the engine of worker " + d.cfg.Worker},
	} {
		s := contained(c.cores, 64, c.argv...)
		s.Image = c.image
		r := d.Run(t.Context(), s)
		says := r.Reason
		if c.outcome == cluster.Finished {
			says = r.Output
		}
		if r.Outcome != c.outcome || r.ExitCode != c.exitCode || !strings.HasPrefix(says, c.says) {
			t.Errorf("%s %v: %+v", c.image, c.argv, r)
		}
		if len(r.Output) > executor.TailBytes || c.exitCode == 7 && !strings.HasSuffix(r.Output, "line 19999") {
			t.Errorf("%v: %d bytes of output, %q", c.argv, len(r.Output), r.Output)
		}
		if ran := c.exitCode == 0 || c.exitCode == 7; ran != (r.Startup > 0) {
			t.Errorf("%s %v: start-up %v", c.image, c.argv, r.Startup)
		}
	}
}

func TestContainersAreConfined(t *testing.T) {
	d := needEngine(t)
	r := d.Run(t.Context(), contained(1, 64, "whoami", "write=/tmp/x", "write=/dev/shm/x"))
	executortest.Finished(t, r)
	for _, want := range []string{"uid=65534 gid=65534\n", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1",
		"Seccomp:\t2"} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("%q is missing:\n%s", want, r.Output)
		}
	}
	for step, want := range map[string]string{
		"write=/x": "read-only file system", "dial=1.1.1.1:80": "network is unreachable", "fork=100": "temporarily unavailable",
		"fill=/tmp/x": "no space left", "fill=/dev/shm/x": "no space left",
	} {
		if r := d.Run(t.Context(), contained(1, 64, step)); r.Outcome != cluster.Failed || !strings.Contains(r.Output, want) {
			t.Errorf("%s: %+v", step, r)
		}
	}
}

// Tasks at the limit are killed one by one; what runs beside them does not notice.
func TestOutOfMemoryHarmsNobodyElse(t *testing.T) {
	d := needEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	neighbour := make(chan worker.Result)
	go func() { neighbour <- d.Run(ctx, contained(0.5, 64, "grow=30", "print=grown", "sleep=1h")) }()
	executortest.Eventually(t, "the neighbour has grown", func() bool { return printed(t, d, "grown") })
	for _, step := range []string{"grow=100", "child=grow=100"} {
		r := d.Run(t.Context(), contained(1, 64, step))
		if r.Outcome != cluster.Failed || !r.OutOfMemory || r.PeakMemory != 64 && r.PeakMemory != 65 ||
			!strings.Contains(r.Reason, "64 MiB; raise memory_mb") {
			t.Errorf("%s: %+v", step, r)
		}
	}
	executortest.Finished(t, d.Run(t.Context(), contained(1, 64, "grow=40")))
	select {
	case r := <-neighbour:
		t.Errorf("the neighbour ended: %+v", r)
	default:
		cancel()
		if r := <-neighbour; r.Outcome != cluster.Cancelled || r.OutOfMemory || r.PeakMemory < 30 || r.PeakMemory > 64 {
			t.Errorf("the neighbour: %+v", r)
		}
	}
}

// printed reports whether the only container of an executor has printed something.
func printed(t *testing.T, d *Executor, text string) bool {
	all := containers(t, d.cfg.Worker)
	if len(all) != 1 {
		return false
	}
	var end executor.Tail
	return d.engine.logs(t.Context(), all[0].name, &end) == nil && strings.Contains(end.String(), text)
}

// A tenth of a core is a tenth of a core, whoever else is there: the kernel has the limit of each of two tasks and stops
// both whenever they have used it up. How long that takes depends on the machine, so no clock is asked.
func TestCPULimits(t *testing.T) {
	d := needEngine(t)
	const cores, work = 0.1, 200 * time.Millisecond
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			r := d.Run(t.Context(), contained(cores, 64, "burn="+work.String(), "throttled"))
			executortest.Finished(t, r)
			if share, stopped := executortest.Throttled(t, r); share != cores || stopped == 0 {
				t.Errorf("%v cores are %v, stopped %d times", cores, share, stopped)
			}
			if late := time.Duration(cores * float64(2*readEvery)); r.CPU < work-late || r.CPU > work+200*time.Millisecond {
				t.Errorf("%v of CPU time are accounted for as %v", work, r.CPU)
			}
		})
	}
	group.Wait()
}

func TestContextsStopContainers(t *testing.T) {
	d := needEngine(t)
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan worker.Result)
	go func() { results <- d.Run(ctx, contained(1, 64, "burn=50ms", "print=up", "ignore", "sleep=1h")) }()
	executortest.Eventually(t, "the container is up", func() bool { return printed(t, d, "up") })
	cancel()
	if r := <-results; r.Outcome != cluster.Cancelled || !strings.HasSuffix(r.Output, "up") || r.CPU < 50*time.Millisecond || r.Startup == 0 {
		t.Errorf("%+v", r)
	}
	if left := containers(t, d.cfg.Worker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	ctx, cancel = context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if r := d.Run(ctx, contained(1, 64, "sleep=1h")); r.Outcome != cluster.TimedOut || r.ExitCode != executor.NoExitCode {
		t.Errorf("%+v", r)
	}
	if left := containers(t, d.cfg.Worker); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// fds counts the open files of this process.
func fds(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestManyContainersLeaveNothing(t *testing.T) {
	many := 500
	if testing.Short() {
		many = 50
	}
	d := needEngine(t)
	executortest.Finished(t, d.Run(t.Context(), contained(1, 16)))
	d.engine.close()
	goroutines, files := goleak.IgnoreCurrent(), fds(t)
	work := make(chan int)
	var group sync.WaitGroup
	begin := time.Now()
	for range 8 {
		group.Go(func() {
			for i := range work {
				s := contained(1, 16, fmt.Sprintf("print=%d", i))
				s.TaskID = fmt.Sprint(i)
				if r := d.Run(t.Context(), s); r.Outcome != cluster.Finished || r.Output != s.TaskID {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	for i := range many {
		work <- i
	}
	close(work)
	group.Wait()
	t.Logf("%d containers in %v", many, time.Since(begin))
	d.engine.close()
	goleak.VerifyNone(t, goroutines)
	if now := fds(t); now > files {
		t.Errorf("%d open files, %d before", now, files)
	}
}

// elsewhere is an engine whose processes are not those of this machine.
type elsewhere struct{ dockerEngine }

func (e elsewhere) inspect(ctx context.Context, name string) (*container.State, error) {
	state, err := e.dockerEngine.inspect(ctx, name)
	if err == nil {
		state.Pid = 1
	}
	return state, err
}

func TestSamplesOfAnEngineElsewhere(t *testing.T) {
	d := needEngine(t)
	d.engine = elsewhere{d.engine.(dockerEngine)}
	r := d.Run(t.Context(), contained(0.5, 64, "grow=20", "burn=1s", "sleep=3s"))
	executortest.Finished(t, r)
	if r.CPU < time.Second || r.PeakMemory < 20 || r.PeakMemory > 40 {
		t.Errorf("%+v", r)
	}
}

// BenchmarkContainer is what a container costs that does nothing, one at a time and four.
func BenchmarkContainer(b *testing.B) {
	for _, lanes := range []int{1, 4} {
		b.Run(fmt.Sprint(lanes, "-at-a-time"), func(b *testing.B) {
			d := needEngine(b)
			var left, startup atomic.Int64
			left.Store(int64(b.N))
			b.ResetTimer()
			var group sync.WaitGroup
			for range lanes {
				group.Go(func() {
					for left.Add(-1) >= 0 {
						r := d.Run(b.Context(), contained(1, 64, "print=x"))
						executortest.Finished(b, r)
						startup.Add(int64(r.Startup))
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(startup.Load())/1e6/float64(b.N), "startup-ms")
		})
	}
}
