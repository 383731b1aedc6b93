package testbed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/worker/executor/executortest"
)

// behind takes hosts off the network on which they can be reached from here, and gives them addresses on another one, which
// the gate reaches too.
func (l *lab) behind(gate labHost, hosts []labHost) {
	l.t.Helper()
	inner := func(i int, h labHost, command string) string {
		address := fmt.Sprintf("10.213.77.%d", i+1)
		l.inside(h, "root", fmt.Sprintf(command, address))
		return address
	}
	inner(0, gate, "ip addr add %s/24 dev eth0")
	for i := range hosts {
		hosts[i].address = inner(i+1, hosts[i], "ip addr flush dev eth0 && ip addr add %s/24 dev eth0")
	}
}

// Hosts that only another one reaches: everything goes through that, commands run on one of the hosts, and what they write
// comes back.
func TestHostsBehindAJumpHost(t *testing.T) {
	t.Parallel() // most of it is waiting
	l := newLab(t, 0)
	for range 3 {
		l.add("--cap-add", "NET_ADMIN")
	}
	gate, inner := l.hosts[0], l.hosts[1:]
	l.behind(gate, inner)
	l.knowHosts()
	if _, err := l.try("ssh", "-F", filepath.Join(l.dir, "config"), "-o", "ConnectTimeout=2", inner[0].address, "true"); err == nil {
		t.Fatal("the hosts can be reached without the gate")
	}
	l.inventory(inner, work+"[cluster]\njump = \"ops@"+gate.address+":22\"\n")
	if output := l.ok("doctor"); strings.Count(output, ": nothing was ever copied here\n") != 2 {
		t.Errorf("doctor before anything is there:\n%s", output)
	}
	l.ok("up")
	if output := l.ok("doctor"); strings.Count(output, " (this one), configuration ") != 2 ||
		!strings.Contains(output, "node-2: binary ") || !strings.Contains(output, "runs datastore-node-2 ") {
		t.Errorf("doctor when all runs:\n%s", output)
	}
	l.ok("run", "-from", "node-3", "-out", l.dir, "--", "replay", "-trace", l.trace(50, 20*time.Millisecond), "-n", "50", "-warmup", "1",
		"-qps", "0", "-out=out/mine")
	fetched := filepath.Join(l.dir, "dodoor", "node-3")
	rows(t, filepath.Join(fetched, "rows", "out", "mine"), 50)
	if err := os.RemoveAll(fetched); err != nil {
		t.Fatal(err)
	}
	l.interrupted(inner[1])
	l.ok("drain", "node-3")
	if nodes := l.ok("run", "-from", "node-2", "-out", l.dir, "--", "nodes", "-plain"); !strings.Contains(nodes, "node-3\tsmall\t"+
		inner[1].address+":20501\tdraining\n") {
		t.Errorf("drained:\n%s", nodes)
	}
	l.ok("remove", "node-3")
	l.ok("collect", "-out", l.dir)
	rows(t, filepath.Join(fetched, "rows", "out", "mine"), 50)
	if _, err := os.Stat(filepath.Join(fetched, "log", "node-3.log")); err != nil {
		t.Error(err)
	}
	for _, out := range []string{"/tmp/x", "a/../../x"} {
		if output, code := l.cluster("run", "-from", "node-2", "--", "replay", "-out", out); code != 2 ||
			!strings.Contains(output, "-out "+out+": with -from it has to be below") {
			t.Errorf("-out %s: exit code %d\n%s", out, code, output)
		}
	}
	l.ok("down")
}

// interrupted begins a long command on a host, and stops it from here, politely and not. It ends there, too, and every row that
// it has is whole.
func (l *lab) interrupted(h labHost) {
	l.t.Helper()
	trace := l.trace(100, time.Minute)
	for name, signal := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "kill": syscall.SIGKILL} {
		cmd := l.command(l.t.Context(), l.ssh(), l.binary, "run", "-from", h.name, "-out", l.dir, "--", "replay", "-trace", trace, "-n", "100",
			"-warmup", "1", "-qps", "0", "-out", "out/"+name)
		wait := l.begin(cmd)
		running := func() bool { return strings.Contains(l.processes(h), "dodoor replay ") }
		executortest.Eventually(l.t, "the replay runs there", func() bool {
			return running() && l.inside(h, "ops", "cat /home/ops/dodoor/rows/out/"+name+"/*/run.json 2>/dev/null || true") != ""
		})
		if err := cmd.Process.Signal(signal); err != nil {
			l.t.Fatal(err)
		}
		o := wait()
		executortest.Eventually(l.t, "the replay has ended there", func() bool { return !running() })
		executortest.Eventually(l.t, "what was lent for it is gone", func() bool { return !strings.Contains(l.keys(h), "/lent-") })
		tasks := l.inside(h, "ops", "cat /home/ops/dodoor/rows/out/"+name+"/*/tasks.csv")
		if n := strings.Count(tasks, "not submitted: the run was stopped"); n < 90 || strings.Count(tasks, "\n") != 101 {
			l.t.Errorf("%s: rows\n%s", name, tasks)
		}
		fetched, err := filepath.Glob(filepath.Join(l.dir, "dodoor", h.name, "rows", "out", name, "*", "tasks.csv"))
		if signal == syscall.SIGINT && (o.err != nil || o.code != 1 || len(fetched) != 1 || err != nil) {
			l.t.Errorf("%s: exit code %d, %v, fetched %v, %v\n%s", name, o.code, o.err, fetched, err, o.output)
		}
	}
}
