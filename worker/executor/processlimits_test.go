package executor

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

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// A task at its limit is killed; what runs beside it does not notice.
func TestMemoryLimit(t *testing.T) {
	p := newProcess(t, cgroupRequired)
	file := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	neighbour := runs(t, func() worker.Result { return p.Run(ctx, p.task(0.5, 64, "grow=30", "pid="+file, "sleep=1h")) })
	noted(t, file, 1)
	for _, step := range []string{"grow=100", "child=grow=100"} {
		r := p.Run(t.Context(), p.task(1, 64, step))
		if r.Outcome != cluster.Failed || !r.OutOfMemory || r.PeakMemory != 64 && r.PeakMemory != 65 || !strings.Contains(r.Reason, "64 MiB; raise memory_mb") {
			t.Errorf("%s: %+v", step, r)
		}
	}
	finished(t, p.Run(t.Context(), p.task(1, 64, "grow=40")))
	cancel()
	if r := neighbour(); r.Outcome != cluster.Cancelled || r.OutOfMemory || r.PeakMemory < 30 || r.PeakMemory > 64 {
		t.Errorf("the neighbour: %+v", r)
	}
}

// Half a core: the work takes at least twice as long as the CPU time that it needs. A busy machine makes it
// longer, so there is no bound above.
func TestCPULimit(t *testing.T) {
	p := newProcess(t, cgroupRequired)
	r := p.Run(t.Context(), p.task(0.5, 64, "burn=800ms"))
	finished(t, r)
	took, err := time.ParseDuration(r.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("half a core: %v of CPU time in %v", r.CPU, took)
	if r.CPU < 800*time.Millisecond || float64(r.CPU) > 0.5*1.15*float64(took+r.Startup) {
		t.Errorf("%v of CPU time in %v", r.CPU, took)
	}
}

// A limit of next to nothing does not keep a task from dying.
func TestThrottledTasksDie(t *testing.T) {
	p := newProcess(t, cgroupRequired)
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "pids")
	ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(0.01, 64, "pid="+file, "burn=1h")) })
	noted(t, file, 1)
	cancel()
	if r := ended(); r.Outcome != cluster.Cancelled {
		t.Errorf("%+v", r)
	}
}

// Neither descriptors nor processes nor folders nor threads that are out of place are left by many tasks,
// eight at a time.
func TestManyTasks(t *testing.T) {
	for _, mode := range []string{cgroupOff, cgroupRequired} {
		t.Run(mode, func(t *testing.T) {
			p := newProcess(t, mode)
			home := homes(t)
			finished(t, p.Run(t.Context(), p.task(1, 64))) // what is opened once is open
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
			for i := range 200 {
				tasks <- fmt.Sprintf("task/%d", i)
			}
			close(tasks)
			work.Wait()
			if now := open(t); now > descriptors {
				t.Errorf("%d descriptors, and there were %d", now, descriptors)
			}
			if left := taskGroups(t, p.owner+"/1-t"); len(left) > 0 {
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
	p := newProcess(t, cgroupRequired)
	home := homes(t)
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "pids")
	ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "pid="+file, "sleep=1h")) })
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", noted(t, file, 1)[0]))
	if err != nil || !strings.Contains(string(text), path.Join("/", p.groups.home, "2-t")+"\n") {
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

// fallen makes this program a worker of that name which is in the middle of a task, instead of a test.
const fallen = "DODOOR_PROCESS_TEST_WORKER"

// runUntilFallen is the process that tests kill.
func runUntilFallen(name string) {
	p, err := NewProcess(ProcessConfig{Allow: []string{os.Getenv(fallen + "_PROGRAM")}, Cgroup: cgroupRequired, Worker: name})
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%+v\n", p.Run(context.Background(), p.task(1, 64, "spawn=stranger:"+os.Getenv(fallen+"_FILE"), "sleep=1h")))
}

// fall starts a worker, kills it in the middle of a task, and returns a process of that task. With it, kill
// waits.
func fall(t *testing.T, p *Process, worker string, kill bool) (pid int, stop func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fallen+"="+worker, fallen+"_PROGRAM="+p.cfg.Allow[0], fallen+"_FILE="+file)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	pid = noted(t, file, 1)[0]
	if kill {
		stop()
	}
	return pid, stop
}

// What a killed worker leaves behind goes when the next process of its name starts, and that alone.
func TestFallenWorkersAreSweptUpAfter(t *testing.T) {
	p := newProcess(t, cgroupRequired)
	living, stop := fall(t, p, t.Name(), false)
	mine, _ := fall(t, p, t.Name(), true)
	other, _ := fall(t, p, t.Name()+".5", true)
	again, err := NewProcess(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check(); err != nil || again.Swept() != 2 { // its control group and its files
		t.Errorf("swept %d, %v", again.Swept(), err)
	}
	if alive(mine) || !alive(living) || !alive(other) {
		t.Errorf("alive: %v, want false; of another process %v, of another worker %v, want true", alive(mine), alive(living), alive(other))
	}
	stop()
	for _, name := range []string{t.Name(), t.Name() + ".5"} {
		sweeper, err := NewProcess(ProcessConfig{Allow: p.cfg.Allow, Cgroup: cgroupRequired, Worker: name})
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
	if alive(living) || alive(other) {
		t.Error("processes live on")
	}
	finished(t, p.Run(t.Context(), p.task(1, 64))) // waits for the orphans that were killed
}
