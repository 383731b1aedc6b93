package testbed

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commands is what hosts need to run anybody's commands.
const commands = `
[process]
allow = ["/bin/", "/usr/bin/"]
`

// dodoor runs a command of the program on this machine against the cluster, and returns what it printed.
func (l *lab) dodoor(command string, args ...string) string {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), l.binary, append([]string{command, "-conf", filepath.Join(l.dir, "cluster.toml")}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		l.t.Fatalf("dodoor %s %s: %v\n%s%s", command, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	l.t.Logf("dodoor %s %s: %v\n%s", command, strings.Join(args, " "), time.Since(begin).Round(time.Millisecond), stderr.String())
	return stdout.String()
}

// Ten thousand real processes of one job over six hosts: each runs once, on some host, and what it prints can be read.
func TestTenThousandProcesses(t *testing.T) {
	l := newLab(t, 6)
	l.inventory(l.hosts, work+commands)
	l.ok("up")
	const tasks = 10_000
	begin := time.Now()
	job := strings.TrimSpace(l.dodoor("submit", "-array", fmt.Sprintf("1-%d", tasks), "-cores", "0.1", "-memory", "16", "-duration", "20ms",
		"-name", "many", "--", "sh", "-c", "echo $DODOOR_NODE {}"))
	submitted := time.Since(begin)
	l.dodoor("wait", job)
	t.Logf("%d processes: submitted after %v, ended after %v", tasks, submitted.Round(time.Millisecond),
		time.Since(begin).Round(time.Millisecond))
	output := l.dodoor("logs", job)
	ran := map[string]int{}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range lines {
		node, index, _ := strings.Cut(line, " ")
		ran[node]++
		if index != fmt.Sprint(i+1) {
			t.Fatalf("line %d is %q", i+1, line)
		}
	}
	if len(lines) != tasks || len(ran) != len(l.hosts) {
		t.Errorf("%d lines of %v", len(lines), ran)
	}
	t.Logf("by host: %v\n%s", ran, l.dodoor("job", job))
	l.dodoor("forget", job)
	if jobs := l.dodoor("jobs"); strings.Contains(jobs, job) {
		t.Errorf("forgotten, and still there:\n%s", jobs)
	}
	l.ok("down")
}
