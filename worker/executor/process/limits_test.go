package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// A task at its limit is killed; what runs beside it does not notice.
func TestMemoryLimit(t *testing.T) {
	p := newProcess(t, required)
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(0.5, 64, "grow=30", "pid="+file, "sleep=1h")) })
	executortest.Noted(t, file, 1)
	for _, step := range []string{"grow=100", "child=grow=100"} {
		r := p.Run(t.Context(), p.task(1, 64, step))
		if r.Outcome != cluster.Failed || !r.OutOfMemory || r.PeakMemory != 64 && r.PeakMemory != 65 ||
			!strings.Contains(r.Reason, "64 MiB; raise memory_mb") {
			t.Errorf("%s: %+v", step, r)
		}
	}
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64, "grow=40")))
	cancel()
	if r := neighbour(); r.Outcome != cluster.Cancelled || r.OutOfMemory || r.PeakMemory < 30 || r.PeakMemory > 64 {
		t.Errorf("the neighbour: %+v", r)
	}
}

// A pipeline that lost a part has not done its work, although a shell goes by the last part alone.
func TestMemoryLimitOfAPart(t *testing.T) {
	p := newProcess(t, required, "/bin/sh")
	s := p.task(1, 64)
	s.Argv = []string{"/bin/sh", "-c", p.cfg.Allow[0] + " grow=100 | cat"}
	if r := p.Run(t.Context(), s); r.Outcome != cluster.Failed || !r.OutOfMemory || r.ExitCode != 0 && r.ExitCode != 137 {
		t.Errorf("%+v", r)
	}
	s.Argv[2] = p.cfg.Allow[0] + " grow=10 | cat"
	executortest.Finished(t, p.Run(t.Context(), s))
}

// Who forks without end is refused at the limit, and everything ends with the task.
func TestForkLimit(t *testing.T) {
	p := newProcess(t, required)
	p.rule.PidsLimit = 40
	r := p.Run(t.Context(), p.task(1, 512, "fork=100"))
	if r.Outcome != cluster.Failed || r.OutOfMemory || !strings.Contains(r.Reason, "refused processes beyond process.pids_limit") {
		t.Errorf("%+v", r)
	}
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64, "child=print=x")))
}

// Half a core: the kernel has the limit, and stops the task whenever it has used it up. That is a share of whatever time
// passes, so it holds on a slow machine, too; what it gives beyond it by the way it counts is less than a tenth. Where others
// keep the task from half a core, there is nothing to stop, and it has to try again.
func TestCPULimit(t *testing.T) {
	p := newProcess(t, required)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for stopped := 0; stopped == 0 && !t.Failed(); {
		begin := time.Now()
		r := p.Run(ctx, p.task(0.5, 64, "crowd=1s", "throttled"))
		if share := r.CPU.Seconds() / time.Since(begin).Seconds(); share > 0.55 {
			t.Errorf("it got %.2f cores", share)
		}
		executortest.Finished(t, r)
		var cores float64
		if cores, stopped = executortest.Throttled(t, r); cores != 0.5 || r.CPU < time.Second {
			t.Errorf("%v of CPU time, %v cores", r.CPU, cores)
		}
	}
}

// A limit of next to nothing does not keep a task from dying.
func TestThrottledTasksDie(t *testing.T) {
	p := newProcess(t, required)
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "pids")
	cores := 0.01
	if testing.Short() {
		cores = 0.05 // it takes a while to start
	}
	ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(cores, 64, "pid="+file, "burn=1h")) })
	executortest.Noted(t, file, 1)
	cancel()
	if r := ended(); r.Outcome != cluster.Cancelled {
		t.Errorf("%+v", r)
	}
}

// Neither descriptors nor processes nor folders nor threads that are out of place are left by many tasks,
// eight at a time.
func TestManyTasks(t *testing.T) {
	many := 200
	if testing.Short() {
		many = 50
	}
	for _, mode := range []string{off, required} {
		t.Run(mode, func(t *testing.T) {
			p := newProcess(t, mode)
			home := homes(t)
			executortest.Finished(t, p.Run(t.Context(), p.task(1, 64))) // what is opened once is open
			descriptors := open(t)
			tasks := make(chan string)
			var work sync.WaitGroup
			for range 8 {
				work.Go(func() {
					for text := range tasks {
						s := p.task(1, 64, "print="+text)
						s.TaskID = text
						if r := p.Run(t.Context(), s); r.Outcome != cluster.Finished || r.Output != text {
							t.Errorf("%s: %+v", text, r)
						}
					}
				})
			}
			for i := range many {
				tasks <- fmt.Sprintf("task/%d", i)
			}
			close(tasks)
			work.Wait()
			if now := open(t); now > descriptors {
				t.Errorf("%d descriptors, and there were %d", now, descriptors)
			}
			if left := taskGroups(t, p.rule.Owner+"/1-t"); len(left) > 0 {
				t.Errorf("control groups: %v", left)
			}
			if now := homes(t); len(home) != 1 || !slices.Equal(now, home) {
				t.Errorf("threads are in %q, and were in %q", now, home)
			}
		})
	}
}

// While a task runs, it is alone in its control groups.
func TestThreadsGoBack(t *testing.T) {
	p := newProcess(t, required)
	home := homes(t)
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "pids")
	ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "pid="+file, "sleep=1h")) })
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", executortest.Noted(t, file, 1)[0]))
	if err != nil || !strings.Contains(string(text), path.Join("/", cgroup.Parent, p.rule.Owner)+"/") {
		t.Errorf("the task is in\n%s, %v", text, err)
	}
	if now := homes(t); len(home) != 1 || !slices.Equal(now, home) {
		t.Errorf("threads are in %q, and were in %q", now, home)
	}
	cancel()
	ended()
}

func open(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// homes lists the control groups of this process's threads, each once.
func homes(t *testing.T) (all []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/self/task/*/cgroup")
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && len(text) > 0 && !seen[string(text)] {
			seen[string(text)] = true
			all = append(all, string(text))
		}
	}
	return all
}

// killedWorker makes this program a worker of that name which is in the middle of a task, instead of a test.
const killedWorker = "DODOOR_PROCESS_TEST_WORKER"

// runUntilKilled is the process that tests kill.
func runUntilKilled(name string) {
	p, err := New(Config{Allow: []string{os.Getenv(killedWorker + "_PROGRAM")}, Cgroup: required, Worker: name})
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%+v\n", p.Run(context.Background(), p.task(1, 64, "spawn=stranger:"+os.Getenv(killedWorker+"_FILE"), "sleep=1h")))
}

// startWorker starts a worker, kills it in the middle of a task, and returns a process of that task. With it, kill
// waits.
func startWorker(t *testing.T, p *Executor, worker string, kill bool) (pid int, stop func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedWorker+"="+worker, killedWorker+"_PROGRAM="+p.cfg.Allow[0], killedWorker+"_FILE="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	pid = executortest.Noted(t, file, 1)[0]
	if kill {
		stop()
	}
	return pid, stop
}

// What a killed worker leaves behind goes when the next process of its name starts, and that alone.
func TestKilledWorkersAreSweptUpAfter(t *testing.T) {
	p := newProcess(t, required)
	living, stop := startWorker(t, p, t.Name(), false)
	mine, _ := startWorker(t, p, t.Name(), true)
	other, _ := startWorker(t, p, t.Name()+".5", true)
	again, err := New(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check(); err != nil || again.Swept() != 2 { // its control group and its files
		t.Errorf("swept %d, %v", again.Swept(), err)
	}
	if executortest.Alive(mine) || !executortest.Alive(living) || !executortest.Alive(other) {
		t.Errorf("alive: %v, want false; of another process %v, of another worker %v, want true", executortest.Alive(mine),
			executortest.Alive(living), executortest.Alive(other))
	}
	stop()
	for _, name := range []string{t.Name(), t.Name() + ".5"} {
		sweeper, err := New(Config{Allow: p.cfg.Allow, Cgroup: required, Worker: name})
		if err != nil {
			t.Fatal(err)
		}
		if err := sweeper.Check(); err != nil || sweeper.Swept() != 2 {
			t.Errorf("%s: swept %d, %v", name, sweeper.Swept(), err)
		}
		if name != t.Name() {
			if err := sweeper.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if executortest.Alive(living) || executortest.Alive(other) {
		t.Error("processes live on")
	}
	executortest.Finished(t, p.Run(t.Context(), p.task(1, 64))) // waits for the orphans that were killed
}
