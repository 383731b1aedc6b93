package testbed

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

var paper = flag.Bool("paper", false, "run the paper's comparison on six hosts, most of an hour, and write docs/cluster.md")

// pace is how much faster than on the clock time passes in a comparison.
const pace = 20

// The shipped inventory on six hosts: policies compared by flag on the cluster that runs, every run of the policy that it
// says, and the cluster as before in the end. With -paper it is the comparison of docs/cluster.md.
func TestCompareOnTheCluster(t *testing.T) {
	l := newLab(t, 6)
	l.example()
	l.ok("up")
	before := l.ok("status")
	args := []string{"compare", "-on", "cluster", "-policies", "dodoor,pot", "-trace", "functionbench", "-qps", "2", "-seeds", "1", "-n", "60"}
	if *paper {
		l.patience = time.Hour
		args = []string{"compare", "-on", "cluster", "-policies", "dodoor,dodoor+,pot,prequal,random", "-trace", "functionbench", "-qps", "1,2",
			"-seeds", "3"}
	}
	out := filepath.Join(l.dir, "compare")
	output := l.ok("run", append(append([]string{"--"}, args...), "-out", out)...)
	summary, err := os.ReadFile(filepath.Join(out, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range strings.Split(args[4], ",") {
		if !strings.Contains(string(summary), "| "+policy+" |") {
			t.Errorf("no row of %s:\n%s\n%s", policy, summary, output)
		}
	}
	if strings.Contains(string(summary), "INCOMPLETE") {
		t.Errorf("not everything ended:\n%s", summary)
	}
	if after := l.ok("status"); after != before {
		t.Errorf("other processes after the comparison:\n%s\nbefore:\n%s", after, before)
	}
	again := l.ok("run", append(append([]string{"--"}, args...), "-out", out)...)
	if strings.Contains(again, "run 1 of") {
		t.Errorf("what has ended runs again:\n%s", again)
	}
	l.ok("down")
	if *paper {
		writePage(t, strings.Join(args, " "), string(summary))
		figure, err := os.ReadFile(filepath.Join(out, "plots", "makespan-p95.svg"))
		if err == nil {
			err = os.WriteFile("../docs/plots/cluster-makespan-p95.svg", figure, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// example writes the shipped inventory with the addresses of the hosts, for tasks that pass the time, fast.
func (l *lab) example() {
	l.t.Helper()
	text, err := os.ReadFile("../conf/cluster-example.toml")
	if err != nil {
		l.t.Fatal(err)
	}
	i := 0
	address := regexp.MustCompile(`(?m)^address = .*$`)
	inventory := address.ReplaceAllStringFunc(string(text), func(string) string {
		i++
		return fmt.Sprintf("address = %q", l.hosts[i-1].address)
	})
	l.write("cluster.toml", strings.NewReplacer("[generator]\n", fmt.Sprintf("[generator]\ntime_scale = %d\n", pace),
		`executor = ""`, `executor = "sleep"`).Replace(inventory))
	if i != len(l.hosts) {
		l.t.Fatalf("the example has %d hosts, and there are %d", i, len(l.hosts))
	}
}

// writePage writes docs/cluster.md. The tables of a summary stand below its second heading.
func writePage(t *testing.T, command, summary string) {
	t.Helper()
	_, tables, _ := strings.Cut(summary, "\n## ")
	page := fmt.Sprintf(`# A comparison on six hosts

"go test ./testbed -run TestCompareOnTheCluster -paper -timeout 2h" writes this page; edit the test instead. The hosts are six
containers with sshd, an address and a file system of their own on one machine of %[1]d cores. They were brought up with
scripts/cluster from conf/cluster-example.toml with their addresses, time_scale = %[2]d and executor = "sleep" in it. The comparison is
one command:

    scripts/cluster run -conf lab.toml -- %[3]s

Before every run the schedulers took its policy and its seed, and every service was asked which program, configuration, policy, seed and
batch it runs; every account was zero before the first task and after the last.

**What it can show:** that the policies, started, switched and verified over ssh, place every task, on which classes, after what wait by the
estimates, and for how many messages.

**What it cannot:** tasks of FunctionBench pass the time that their profile says, so nothing contends for cores, memory or disks, and
containers of one machine share its clock, its cores and a network without delay. A rate of two a second leaves most of the cores
idle. The wait says how much of a makespan is waiting; the rest is, but for milliseconds, how long the class on which a task ran
takes for it. Three seeds leave wide intervals: where those of two policies overlap, the rows do not say which is better. Scheduling
latencies are of processes that share the cores with everything else. max_staleness = "250ms" counts on the clock, and
pushes whatever the policy reads: the messages that random has beyond one a task are such pushes.

Makespan and waits are in trace time, a second of which passed in %[4]d ms; scheduling latency is on the clock.

![P95 makespan by rate](plots/cluster-makespan-p95.svg)

## %[5]s`, runtime.NumCPU(), pace, command, 1000/pace, tables)
	if err := os.WriteFile("../docs/cluster.md", []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}
