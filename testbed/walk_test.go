package testbed

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the hosts of tests run: short tasks, emulated and real. Everybody proves who it is.
const work = `
[security]
folder = "certs"
[scheduler]
policy = "dodoor+"
b_delta = 4
max_staleness = "100ms"
[datastore]
b = 6
max_staleness = "100ms"
[[class]]
name = "small"
cores = 2
memory_mb = 1024
[[task_type]]
name = "nap"
[[task_type.mode]]
name = "short"
cores = 0.6
memory_mb = 16
duration = "1s"
[[task_type]]
name = "crunch"
executor = "stress-ng"
[[task_type.mode]]
name = "short"
cores = 0.1
memory_mb = 32
duration = "200ms"
`

// trace writes n tasks, a pause apart; one in ten works, the others pass the time.
func (l *lab) trace(n int, pause time.Duration) string {
	l.t.Helper()
	var rows strings.Builder
	rows.WriteString("id,cores,memoryMB,diskMB,durationMs,startMs,type,mode\n")
	for i := range n {
		kind := "0.6,16,0,1000,%d,nap"
		if i%10 == 0 {
			kind = "0.1,16,0,200,%d,crunch"
		}
		fmt.Fprintf(&rows, "t%d,"+kind+",short\n", i, (time.Duration(i) * pause).Milliseconds())
	}
	return l.write("trace.csv", rows.String())
}

// A cluster from nothing to results and back, as docs/operations.md walks through it. While five hundred tasks run, hosts come
// and go, and all get another binary: every task finishes, once.
func TestAClusterFromNothingAndBack(t *testing.T) {
	l := newLab(t, 6)
	before := l.files()
	l.inventory(l.hosts, work)
	l.ok("doctor")
	begin := time.Now()
	l.ok("up")
	t.Logf("six hosts are up after %v (wanted: less than 20 s)", time.Since(begin).Round(time.Millisecond))
	l.bundles()
	l.ok("remove", "node-6")
	l.inventory(l.hosts[:5], work)
	running := l.ok("status")
	if again := l.ok("up"); strings.Count(again, " runs, process ") != 8 || l.ok("status") != running {
		t.Errorf("up twice:\n%s", again)
	}
	l.build(l.binary+"-two", "two") // before there are tasks that would wait for it
	const tasks = 500
	out := filepath.Join(l.dir, "rows")
	replay := l.start("run", "--", "replay", "-trace", l.trace(tasks, 80*time.Millisecond), "-n", strconv.Itoa(tasks), "-warmup", "1",
		"-qps", "0", "-out", out)
	l.comeAndGo()
	began, ended := l.upgradeMeanwhile(running)
	if output := replay(); !strings.Contains(output, "500 of 500 completed") {
		t.Errorf("while hosts came and went:\n%s", output)
	}
	all, start := rows(t, out, tasks)
	during, again := between(all, start, began, ended)
	if during == 0 {
		t.Error("nothing was submitted while the hosts were upgraded")
	}
	t.Logf("%d of %d tasks were sent during the upgrade of %v, %d of them more than once", during, tasks,
		ended.Sub(began).Round(time.Millisecond), again)
	l.ok("run", "-from", "node-3", "-out", l.dir, "--", "replay", "-trace", l.trace(20, 0), "-n", "20", "-warmup", "1", "-qps", "0")
	rows(t, filepath.Join(l.dir, "dodoor", "node-3", "rows", "out"), 20)
	l.follow("node-3")
	l.ok("collect", "-out", l.dir)
	for _, log := range []string{"node-1/log/datastore-node-1.log", "node-2/log/scheduler-node-2.log", "node-6/log/node-6.log"} {
		if text, err := os.ReadFile(filepath.Join(l.dir, "dodoor", log)); err != nil || !strings.Contains(string(text), "msg=serving") {
			t.Errorf("collected: %v\n%s", err, text)
		}
	}
	l.ok("down")
	l.ok("down")
	for _, h := range l.hosts {
		if left := l.processes(h); left != "" {
			t.Errorf("%s: left running:\n%s", h.name, left)
		}
		if left := l.keys(h); left != "" {
			t.Errorf("%s: keys are left:\n%s", h.name, left)
		}
	}
	if after := l.files(); after != before {
		t.Errorf("files outside the folder:\n%s\nbefore:\n%s", after, before)
	}
	l.asDocumented()
}

// keys lists the keys in a host, with their modes.
func (l *lab) keys(h labHost) string {
	l.t.Helper()
	return l.inside(h, "root", "find / -xdev -name '*key.pem' -exec stat -c '%a %U %n' {} + | sort")
}

// bundles checks that each host has the keys of its own services, and that nobody else reads them.
func (l *lab) bundles() {
	l.t.Helper()
	for i, h := range l.hosts {
		roles := [][]string{{"datastore-", "", "scheduler-"}, {"", "scheduler-"}, {""}}[min(i, 2)]
		want := ""
		for _, role := range roles {
			want += "600 ops /home/ops/dodoor/certs/" + role + h.name + "/key.pem\n"
		}
		if got := l.keys(h); got != want {
			l.t.Errorf("%s has the keys\n%s, want\n%s", h.name, got, want)
		}
	}
}

// comeAndGo adds a host and takes one out.
func (l *lab) comeAndGo() {
	l.t.Helper()
	l.inventory(l.hosts, work)
	l.ok("add", "node-6")
	l.ok("drain", "node-5")
	nodes := l.ok("run", "--", "nodes", "-plain")
	for i, h := range l.hosts {
		state := "open"
		if i == 4 {
			state = "draining"
		}
		if !strings.Contains(nodes, h.name+"\tsmall\t"+h.address+":20501\t"+state+"\n") {
			l.t.Errorf("%s is not %s:\n%s", h.name, state, nodes)
		}
	}
	l.ok("remove", "node-5")
}

// upgradeMeanwhile gives every host another binary, and returns from when until when.
func (l *lab) upgradeMeanwhile(running string) (began, ended time.Time) {
	l.t.Helper()
	l.inventory(append(slices.Clone(l.hosts[:4]), l.hosts[5]), work)
	if err := os.Rename(l.binary+"-two", l.binary); err != nil {
		l.t.Fatal(err)
	}
	output, code := l.cluster("up")
	if code != 1 || !strings.Contains(output, "node-6: problem: services of another version run here: scripts/cluster upgrade") {
		l.t.Errorf("up with another binary: exit code %d\n%s", code, output)
	}
	began = time.Now()
	l.ok("upgrade")
	ended = time.Now()
	if now := l.ok("status"); strings.Count(now, `"running":true`) != 8 || now == running {
		l.t.Errorf("after upgrade:\n%s", now)
	}
	return began, ended
}

// follow reads the end of a host's logs until a line of it came.
func (l *lab) follow(host string) {
	l.t.Helper()
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	cmd := l.command(ctx, l.ssh(), l.binary, "logs", "-f", host)
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		l.t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() && !strings.Contains(lines.Text(), "msg=serving") {
	}
	if lines.Err() != nil || !strings.Contains(lines.Text(), "msg=serving") {
		l.t.Errorf("logs -f %s: %v, %s", host, lines.Err(), lines.Text())
	}
	cancel()
	_ = cmd.Wait() // it was killed
}

// asDocumented compares what was run with the walk in docs/operations.md: the same verbs with the same flags of theirs.
func (l *lab) asDocumented() {
	l.t.Helper()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		l.t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, words := range l.ran {
		ran[form(words)] = true
	}
	_, walk, _ := strings.Cut(string(text), "## Many hosts")
	walk, _, _ = strings.Cut(walk, "## Watch")
	found := 0
	for line := range strings.Lines(walk) {
		if command, ok := strings.CutPrefix(line, "scripts/cluster "); ok {
			command, _, _ = strings.Cut(command, "#")
			found++
			if f := form(strings.Fields(command)); !ran[f] {
				l.t.Errorf("docs/operations.md walks through %q, the test does not", f)
			}
		}
	}
	if found < 10 {
		l.t.Errorf("the walk in docs/operations.md has %d commands", found)
	}
}

// form is a verb with its flags, but for what every test has to say otherwise than a reader.
func form(words []string) string {
	var left []string
	for i, word := range words {
		switch {
		case word == "--": // a command follows, with its own flags
			return strings.Join(left, " ")
		case i == 0, strings.HasPrefix(word, "-") && word != "-conf" && word != "-out":
			left = append(left, word)
		}
	}
	return strings.Join(left, " ")
}

// files lists what has changed on the hosts, but for the cluster's folder and what sshd notes of logins.
func (l *lab) files() string {
	var all []string
	for _, h := range l.hosts {
		for line := range strings.Lines(l.must("docker", "diff", h.container)) {
			if !strings.Contains(line, " /home/ops/dodoor") && !strings.Contains(line, " /var/log") && !strings.Contains(line, " /run") {
				all = append(all, h.name+" "+line)
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}
