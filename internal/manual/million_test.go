package manual

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var million = flag.Bool("million", false, "submit, list and wait for a million tasks on emulated workers, and say what that takes")

const (
	manyTasks      = 1_000_000
	manySchedulers = 5
	manyWorkers    = 10
)

// emulated is a cluster whose workers pass the time.
const emulated = `
[scheduler]
policy = "dodoor+"
max_staleness = "100ms"
[datastore]
listen = "%s"
b = 50
max_staleness = "100ms"
[worker]
executor = "sleep"
[log]
level = "warn"
[[class]]
name = "large"
cores = 128
memory_mb = 65536
[[task_type]]
name = "nap"
[[task_type.mode]]
name = "short"
cores = 1
memory_mb = 16
duration = "100ms"
`

// A job of a million tasks, most of which wait at once: what the schedulers take for it, and how long it takes to ask about
// jobs meanwhile. Both are asserted, as they are promised; nothing else should run.
func TestAMillionTasks(t *testing.T) {
	if !*million {
		t.Skip("it takes the whole machine: -million asks for it")
	}
	p := newPerson(t)
	file, data := filepath.Join(p.home, "emulated.toml"), free(t)
	p.write(t, file, fmt.Sprintf(emulated, data))
	p.serves(t, "datastore", "-conf", file)
	var schedulers []int
	for i := range manySchedulers {
		schedulers = append(schedulers, p.serves(t, "scheduler", "-conf", file, "-name", fmt.Sprint("scheduler-", i), "-listen", "127.0.0.1:0"))
	}
	for i := range manyWorkers {
		p.serves(t, "worker", "-conf", file, "-class", "large", "-name", fmt.Sprint("large-", i), "-listen", "127.0.0.1:0")
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(p.types(t.Context(), "dodoor nodes -datastore "+data),
		fmt.Sprintf("%d workers, %d schedulers", manyWorkers, manySchedulers)); {
		if time.Now().After(deadline) {
			t.Fatal("the services do not find each other")
		}
	}
	begin := time.Now()
	submit := p.begins(t, fmt.Sprintf("dodoor submit -datastore %s -array 1-%d -duration 100ms -name million -- true {}", data, manyTasks))
	var slowest, submitted time.Duration
	job, ended := "", (<-chan string)(nil)
	for open := true; open; {
		select {
		case printed := <-submit:
			job, submitted = strings.TrimSpace(printed), time.Since(begin)
			ended = p.begins(t, "dodoor wait -datastore "+data+" "+job+"; echo $?")
		case printed := <-ended:
			if open = false; printed != "0\n" {
				t.Errorf("wait: %s", printed)
			}
		case <-time.After(time.Second):
		}
		asked := time.Now()
		answer := p.types(t.Context(), "dodoor jobs -datastore "+data)
		if slowest = max(slowest, time.Since(asked)); !strings.Contains(answer, "million") {
			t.Fatal(answer)
		}
	}
	took := time.Since(begin)
	resident := 0
	for _, pid := range schedulers {
		resident += highWater(t, pid)
	}
	t.Logf("%d tasks: submitted after %v, ended after %v (%.0f/s); %d schedulers held %d MiB together, at most; jobs answered within %v\n%s",
		manyTasks, submitted.Round(time.Millisecond), took.Round(time.Millisecond), manyTasks/took.Seconds(), manySchedulers, resident>>20,
		slowest.Round(time.Millisecond), p.types(t.Context(), "dodoor job -datastore "+data+" "+job))
	if resident > 1<<30 || slowest > time.Second {
		t.Error("more than 1 GiB, or than a second")
	}
}

// begins runs a command line beside the test, and sends what it printed in the end.
func (p *person) begins(t *testing.T, command string) <-chan string {
	printed := make(chan string, 1)
	go func() { printed <- p.types(t.Context(), command) }()
	return printed
}

// free is an address that nobody listens at.
func free(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// serves starts a service, which the end of the test stops, and returns its process's number.
func (p *person) serves(t *testing.T, args ...string) int {
	t.Helper()
	cmd := exec.Command(filepath.Join(p.home, "bin", "dodoor"), args...)
	cmd.Dir, cmd.Env, cmd.Stderr = p.folder, p.env, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

var highWaterLine = regexp.MustCompile(`^VmHWM:\s+(\d+) kB`)

// highWater is the most memory that a process ever held, in bytes.
func highWater(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if m := highWaterLine.FindStringSubmatch(lines.Text()); m != nil {
			kb, _ := strconv.Atoi(m[1]) // digits alone
			return kb << 10
		}
	}
	t.Fatalf("process %d has no VmHWM", pid)
	return 0
}
