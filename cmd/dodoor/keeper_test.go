package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"dodoor/internal/keeper/first"
	"dodoor/internal/procfs"
	"dodoor/worker/executor/executortest"
)

// asCommand is the variable that makes this test program the command itself.
const asCommand = "DODOOR_TEST_COMMAND"

// started starts the command as a process of its own, and returns it and the child that it keeps.
func started(t *testing.T, args ...string) (command *exec.Cmd, child int) {
	t.Helper()
	command = exec.Command("/proc/self/exe", args...)
	command.Env = append(os.Environ(), asCommand+"=1", "GORACE=atexit_sleep_ms=0")
	command.Stderr = t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	executortest.Eventually(t, "the keeper has a child", func() bool {
		children, _ := procfs.Children(command.Process.Pid)
		if len(children) == 1 {
			child = children[0]
		}
		return child != 0
	})
	return command, child
}

// killed is how the end of a worker begins, and what its exit code is then.
var killed = map[string]struct {
	end  func(keeper, worker int) error
	code int // -1: a signal
}{
	"worker":     {func(_, worker int) error { return syscall.Kill(worker, syscall.SIGKILL) }, 137},
	"keeper":     {func(keeper, _ int) error { return syscall.Kill(keeper, syscall.SIGKILL) }, -1},
	"terminated": {func(keeper, _ int) error { return syscall.Kill(keeper, syscall.SIGTERM) }, exitFailed},
}

// Whichever process of a run is killed, nothing of its tasks lives on, however it hides, and no file is left but those of a
// worker that had no keeper any more.
func TestNothingOutlivesItsWorker(t *testing.T) {
	const tasks = 3
	program := executortest.Install(t)
	for name, c := range killed {
		t.Run(name, func(t *testing.T) {
			temporary, notes := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temporary)
			args := []string{"run", "-j", strconv.Itoa(tasks), "--", program, "spawn=stranger:" + notes + "/{}",
				"spawn=daemon:" + notes + "/{}.daemon", "pid=" + notes + "/{}.task", "sleep=1h", ":::"}
			for i := range tasks {
				args = append(args, strconv.Itoa(i))
			}
			command, worker := started(t, args...)
			var pids []int
			for i := range tasks {
				for _, ending := range []string{"", ".daemon", ".task"} {
					pids = append(pids, executortest.Noted(t, filepath.Join(notes, strconv.Itoa(i)+ending), 1)...)
				}
			}
			if err := c.end(command.Process.Pid, worker); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			gone(t, append(pids, worker))
			if code := command.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	executortest.Eventually(t, "they are gone", func() bool { return !slices.ContainsFunc(pids, executortest.Alive) })
	for _, pid := range pids {
		_, _ = syscall.Wait4(pid, nil, 0, nil) // an orphan may have become this process's child
	}
}

// The same of stress-ng, which has workers of its own.
func TestNothingOutlivesAWorkerWithStressNG(t *testing.T) {
	requireStressNG(t)
	trace := filepath.Join(t.TempDir(), "trace.csv")
	text := "id,cores,memoryMB,diskMB,durationMs,startMs,type,mode\na,0.5,32,0,600000,0,simulated,short\nb,0.5,32,0,600000,0,simulated,short\n"
	if err := os.WriteFile(trace, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range killed {
		if name == "terminated" {
			continue // it waits for its tasks
		}
		t.Run(name, func(t *testing.T) {
			command, worker := started(t, "local", "-conf", "single", "-quiet", "-set", `http.listen=""`, "-trace", trace, "-n", "2",
				"-warmup", "0", "-qps", "5", "-out", t.TempDir())
			var family []int
			executortest.Eventually(t, "both have started their stressors", func() bool {
				family = executortest.Family(worker)
				return len(family) >= 7 // with a stressor of CPU, and one of memory, each
			})
			if err := c.end(command.Process.Pid, worker); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			gone(t, family)
		})
	}
}

// A worker is the same, and so is a service that has been told to end.
func TestAWorkerHasAKeeper(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	command, _ := started(t, "worker", "-conf", "single", "-listen", "127.0.0.1:0", "-datastore", "127.0.0.1:1")
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil && !strings.Contains(err.Error(), "143") { // it had not begun to listen
		t.Error(err)
	}
}

// What has a keeper are commands, and those that run tasks are among them.
func TestCommandsWithKeepers(t *testing.T) {
	for _, name := range first.Commands {
		if !slices.ContainsFunc(commands, func(c command) bool { return c.name == name }) {
			t.Errorf("no command is called %q", name)
		}
	}
}
