package docker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// These make the test binary a process that runs one task, for the worker of this name, with the images of
// this run of the tests.
const (
	crashing    = "DODOOR_EXECUTOR_TEST_WORKER"
	crashingRun = "DODOOR_EXECUTOR_TEST_RUN"
)

// runUntilKilled is that process.
func runUntilKilled(name string) {
	d, err := New(Config{User: "1:1", PidsLimit: 64, Worker: name})
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	fmt.Println(d.Run(context.Background(), contained(0.1, 16, "print=up", "sleep=1h")))
}

// A worker that was killed leaves containers to executortest.Nobody. The next process of its name removes them, and
// those alone.
func TestKilledWorkersAreSweptUpAfter(t *testing.T) {
	d := needEngine(t)
	mine, others := d.cfg.Worker, d.cfg.Worker+"-2"
	dead, alive, other := crash(t, mine), crash(t, mine), crash(t, others)
	defer func() {
		alive.Process.Kill()
		alive.Wait()
		for _, name := range []string{mine, others} {
			sweeper, err := New(Config{Worker: name})
			if err != nil {
				t.Fatal(err)
			}
			if err := sweeper.Check(); err != nil || sweeper.Swept() != 1 || len(containers(t, name)) != 0 {
				t.Errorf("%s: swept %d, %v", name, sweeper.Swept(), err)
			}
			sweeper.Close()
		}
	}()
	for _, p := range []*exec.Cmd{dead, other} {
		p.Process.Kill()
		p.Wait()
	}
	if err := d.Check(); err != nil || d.Swept() != 1 {
		t.Errorf("swept %d, %v", d.Swept(), err)
	}
	if here, there := containers(t, mine), containers(t, others); len(here) != 1 || len(there) != 1 {
		t.Errorf("left: %v and %v of another worker", here, there)
	}
}

// A keeper removes the containers of its worker when that was killed, without a worker of its own.
func TestContainersOfTheDeadAreSwept(t *testing.T) {
	needEngine(t)
	name := t.Name() + "-" + testRun
	dead := crash(t, name)
	if err := Sweep(Config{Worker: name}); err != nil || len(containers(t, name)) != 1 {
		t.Errorf("%v; a container of a worker that lives is gone", err)
	}
	dead.Process.Kill()
	dead.Wait()
	if err := Sweep(Config{Worker: name}); err != nil || len(containers(t, name)) != 0 {
		t.Errorf("%v; left: %v", err, containers(t, name))
	}
}

// crash starts a process that is in the middle of a task when this returns.
func crash(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	before := len(containers(t, name))
	p := exec.Command(os.Args[0])
	p.Env = append(os.Environ(), crashing+"="+name, crashingRun+"="+testRun)
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	executortest.Eventually(t, "its container runs", func() bool {
		all := containers(t, name)
		return len(all) > before && running(t, all)
	})
	return p
}

func running(t *testing.T, all []owned) bool {
	e, err := dial("")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range all {
		if state, err := e.inspect(t.Context(), c.name); err != nil || !state.Running {
			return false
		}
	}
	return true
}

// wire carries connections to the engine, and can be cut.
type wire struct {
	path string

	mu       sync.Mutex
	listener net.Listener
	ends     map[net.Conn]bool
	work     sync.WaitGroup
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{path: filepath.Join(t.TempDir(), "engine.sock"), ends: map[net.Conn]bool{}}
	w.mend(t)
	t.Cleanup(func() {
		w.takeDown()
		w.work.Wait()
	})
	return w
}

// mend lets connections through.
func (w *wire) mend(t *testing.T) {
	t.Helper()
	l, err := net.Listen("unix", w.path)
	if err != nil {
		t.Fatal(err)
	}
	w.listener = l
	e, err := dial("")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	network, addr, _ := strings.Cut(e.DaemonHost(), "://")
	w.work.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, addr)
			if err != nil {
				near.Close()
				continue
			}
			w.carry(near, far)
			w.carry(far, near)
		}
	})
}

func (w *wire) carry(from, to net.Conn) {
	w.mu.Lock()
	w.ends[from] = true
	w.mu.Unlock()
	w.work.Go(func() {
		io.Copy(to, from)
		from.Close()
		to.Close()
		w.mu.Lock()
		delete(w.ends, from)
		w.mu.Unlock()
	})
}

// cut breaks the connections that there are.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.ends {
		end.Close()
	}
}

// takeDown makes the engine unreachable.
func (w *wire) takeDown() {
	w.listener.Close()
	w.cut()
}

// A broken connection is not the end of a container.
func TestConnectionBreaks(t *testing.T) {
	w := newWire(t)
	d := needEngine(t, func(c *Config) { c.Host = "unix://" + w.path })
	results := make(chan worker.Result)
	go func() { results <- d.Run(t.Context(), contained(1, 64, "print=up", "sleep=2s", "print=done")) }()
	executortest.Eventually(t, "the container is up", func() bool { return printed(t, d, "up") })
	w.cut()
	r := <-results
	executortest.Finished(t, r)
	if r.Output != "up\ndone" {
		t.Errorf("%+v", r)
	}
}

// A task that is cancelled while its engine is away is cancelled, and its container is removed when the
// engine is back.
func TestEngineGoesAway(t *testing.T) {
	w := newWire(t)
	d := needEngine(t, func(c *Config) { c.Host = "unix://" + w.path })
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan worker.Result)
	go func() { results <- d.Run(ctx, contained(1, 64, "print=up", "sleep=1h")) }()
	executortest.Eventually(t, "the container is up", func() bool { return printed(t, d, "up") })
	w.takeDown()
	if err := d.Ready(); err == nil || !strings.Contains(err.Error(), "engine.sock") {
		t.Errorf("ready: %v", err)
	}
	cancel()
	if r := <-results; r.Outcome != cluster.Cancelled {
		t.Errorf("%+v", r)
	}
	if left := containers(t, d.cfg.Worker); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	w.mend(t)
	if err := d.Ready(); err != nil {
		t.Error(err)
	}
	if left := containers(t, d.cfg.Worker); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
