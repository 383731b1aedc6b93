package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// One host at a time is unfit. doctor and up name it, the cause and what to do, and leave the others as they were.
func TestUnfitHosts(t *testing.T) {
	t.Parallel() // most of it is waiting
	l := newLab(t, 2)
	full := l.add("--tmpfs", "/home/ops/dodoor:size=1m,mode=777")
	good := l.hosts[:2]
	ssh := l.ssh() + " -o ConnectTimeout=3" // what comes first counts
	old := filepath.Join(t.TempDir(), "dodoor")
	l.build(old, "old")
	for _, c := range []struct {
		name    string
		unfit   labHost
		prepare func(labHost) (ssh string, undo func())
		want    string
	}{
		{"down", good[1], func(h labHost) (string, func()) {
			l.must("docker", "stop", "-t", "0", h.container)
			return ssh, func() { l.must("docker", "start", h.container) }
		}, "ssh did not get through: try "},
		{"full disk", full, func(labHost) (string, func()) { return ssh, func() {} },
			"dodoor has 1 MiB left, less than 256: free some space there"},
		{"wrong clock", good[1], func(h labHost) (string, func()) {
			return l.script("late", `set -o pipefail
				case "$*" in *" `+h.address+` "*) `+ssh+` "$@" | sed -u 's/^clock ./clock 9/' ;; *) exec `+ssh+` "$@" ;; esac`), func() {}
		}, " s off: synchronise it (timedatectl set-ntp true"},
		{"taken port", good[1], func(h labHost) (string, func()) {
			l.must("docker", "exec", "-d", h.container, "python3", "-c",
				"import socket, time\ns = socket.create_server(('"+h.address+"', 20501))\ntime.sleep(1e6)")
			return ssh, func() { l.inside(h, "root", "pkill python3") }
		}, "node-2 cannot listen on "},
		{"old binary", good[1], func(labHost) (string, func()) {
			l.mustAs(old, "up")
			l.mustAs(old, "remove", "node-1")
			l.ok("add", "node-1")
			return ssh, func() { l.ok("down") }
		}, "problem: services of another version run here: scripts/cluster upgrade, or down, before up"},
		{"hanging sshd", good[1], func(h labHost) (string, func()) {
			l.inside(h, "root", "pkill -STOP sshd")
			return ssh, func() { l.inside(h, "root", "pkill -CONT sshd") }
		}, "ssh did not get through: try "},
	} {
		hosts := good
		if c.unfit == full {
			hosts = []labHost{good[0], full}
		}
		l.inventory(hosts, work)
		ssh, undo := c.prepare(c.unfit)
		before := l.processes(good[0])
		for _, verb := range []string{"doctor", "up"} {
			output, code := l.clusterAs(ssh, l.binary, verb)
			named := 0
			for line := range strings.Lines(output) {
				if strings.HasPrefix(line, c.unfit.name+": ") && strings.Contains(line, c.want) {
					named++
				}
			}
			if code != 1 || named == 0 || strings.Contains(output, good[0].name+": problem: ") {
				t.Errorf("%s, %s: exit code %d\n%s", c.name, verb, code, output)
			}
			if now := l.processes(good[0]); now != before {
				t.Errorf("%s, %s: the other host runs\n%sand before\n%s", c.name, verb, now, before)
			}
		}
		undo()
	}
	// Whoever wants to may go on without it, and hears which one.
	l.inventory([]labHost{good[0], good[1], full}, work)
	if output := l.ok("up", "-allow-missing", "1"); !strings.Contains(output, "cluster: goes on without node-3") ||
		!strings.Contains(output, "cluster: 2 hosts up") {
		t.Errorf("%s", output)
	}
	l.must("docker", "rm", "-f", full.container)
	if output, code := l.clusterAs(ssh, l.binary, "down"); code != 1 || !strings.Contains(output, "not stopped on node-3") ||
		!strings.Contains(output, "node-1: datastore-node-1 is stopped") {
		t.Errorf("exit code %d\n%s", code, output)
	}
}

// mustAs runs scripts/cluster with another binary.
func (l *lab) mustAs(binary, verb string, args ...string) {
	l.t.Helper()
	if output, code := l.clusterAs(l.ssh(), binary, verb, args...); code != 0 {
		l.t.Fatalf("%s of another version: exit code %d\n%s", verb, code, output)
	}
}

// script writes a program.
func (l *lab) script(name, text string) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/bash\n"+text+"\n"), 0o755); err != nil {
		l.t.Fatal(err)
	}
	return path
}
