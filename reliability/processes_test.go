package reliability

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
)

// ensemble is the services of one cluster, each a process of its own.
type ensemble struct {
	t          testing.TB
	dir        string
	program    string
	data       *process
	schedulers []*process
	workers    []*process
}

// process is a service; it may be started anew at the same address.
type process struct {
	of      *ensemble
	service string
	name    string
	address string
	more    []string
	cmd     *exec.Cmd
	ended   chan struct{}
}

// assemble starts a data service, schedulers and workers with the settings of the profile production, and waits until every
// scheduler knows every worker.
func assemble(t testing.TB, schedulers, workers int, settings ...string) *ensemble {
	t.Helper()
	e := &ensemble{t: t, dir: t.TempDir(), program: program(t)}
	settings = append(settings, "scheduler.journal="+filepath.Join(e.dir, "journal"), "worker.spool="+filepath.Join(e.dir, "spool"))
	e.data = e.start("datastore", "", settings)
	settings = append(settings, "datastore.address="+e.data.address)
	for i := range schedulers {
		e.schedulers = append(e.schedulers, e.start("scheduler", cluster.SchedulerName(i), settings))
	}
	for i := range workers {
		e.workers = append(e.workers, e.start("worker", fmt.Sprintf("worker-%d", i+1), settings))
	}
	for _, s := range e.schedulers {
		s.until("knows all workers", func(c map[string]int64) bool { return c["candidates"] == int64(workers) })
	}
	return e
}

// program builds the command once per test binary.
func program(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dodoor")
	if output, err := exec.Command("go", "build", "-o", path, "dodoor/cmd/dodoor").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return path
}

func (e *ensemble) start(service, name string, settings []string) *process {
	e.t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.t.Fatal(err)
	}
	p := &process{of: e, service: service, name: name, address: listener.Addr().String()}
	listener.Close()
	for _, s := range settings {
		p.more = append(p.more, "-set", s)
	}
	p.run()
	e.t.Cleanup(func() {
		p.signal(syscall.SIGCONT)
		p.kill()
	})
	return p
}

// run starts a process of the service.
func (p *process) run() {
	e := p.of
	e.t.Helper()
	args := append([]string{p.service, "-conf", "production", "-set", `security.folder=""`, "-listen", p.address}, p.more...)
	if p.name != "" {
		args = append(args, "-name", p.name)
	}
	log, err := os.OpenFile(filepath.Join(e.dir, p.service+p.name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	p.cmd = exec.Command(e.program, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	ended, cmd := make(chan struct{}), p.cmd
	p.ended = ended
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
}

// signal reaches the process and its keeper.
func (p *process) signal(s syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, s) }

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// counters asks a service for its counts; nil: it does not answer.
func (p *process) counters() map[string]int64 {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var counts map[string]int64
	switch p.service {
	case "scheduler":
		c := rpc.NewSchedulerClient(p.address, cluster.Standard(), rpc.Default())
		defer c.Close()
		counts, _ = c.Counters(ctx)
	case "worker":
		c := rpc.NewWorkerClient(p.address, cluster.Standard(), rpc.Default())
		defer c.Close()
		counts, _ = c.Counters(ctx)
	default:
		c := rpc.NewDataClient(p.address, cluster.Standard(), rpc.Default())
		defer c.Close()
		counts, _ = c.Counters(ctx)
	}
	return counts
}

const patience = 2 * time.Minute

// until waits until a service's counts satisfy a condition, and returns how long that took.
func (p *process) until(what string, condition func(counts map[string]int64) bool) time.Duration {
	p.of.t.Helper()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if !poll.Until(ctx, 5*time.Millisecond, func() bool {
		counts := p.counters()
		return counts != nil && condition(counts)
	}) {
		p.of.t.Fatalf("%s %s: never %s\n%s", p.service, p.name, what, p.of.log(p))
	}
	return time.Since(begin)
}

// log is the end of what a service said.
func (e *ensemble) log(p *process) string {
	text, _ := os.ReadFile(filepath.Join(e.dir, p.service+p.name+".log"))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// memory is the resident memory of a service's processes, in MiB.
func (p *process) memory() int64 {
	output, err := exec.Command("ps", "-eo", "pgid=,rss=").Output()
	if err != nil {
		p.of.t.Fatal(err)
	}
	total := int64(0)
	for line := range strings.Lines(string(output)) {
		var group int
		var kib int64
		if _, err := fmt.Sscan(line, &group, &kib); err == nil && group == p.cmd.Process.Pid {
			total += kib
		}
	}
	return total >> 10
}
