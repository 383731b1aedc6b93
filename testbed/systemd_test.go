package testbed

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dodoor/host"
)

// A unitHost is a host that systemd runs, and the user whose units the services are there.
type unitHost struct {
	labHost
	user, home, systemctl string
}

// newUnitHost starts a container with systemd as process 1: its control groups are its own, and it may mount.
func (l *lab) newUnitHost(user, home, systemctl string) *unitHost {
	l.t.Helper()
	h := l.add("--init=false", "--cgroupns=private", "--cap-add", "SYS_ADMIN", "--security-opt", "apparmor=unconfined",
		"--tmpfs", "/run", "--tmpfs", "/run/lock")
	return &unitHost{h, user, home, systemctl}
}

// awaitBoot waits until systemd has started what starts at boot.
func (l *lab) awaitBoot(h *unitHost) {
	l.t.Helper()
	l.inside(h.labHost, "root", "timeout 60 sh -c 'until [ -S /run/systemd/private ]; do sleep 0.05; done' && "+
		"systemctl is-system-running --wait || true")
	if now := l.address(h.labHost); now != h.address {
		l.t.Fatalf("%s has moved from %s to %s", h.name, h.address, now)
	}
}

func (l *lab) reboot(h *unitHost) {
	l.t.Helper()
	l.must("docker", "restart", "-t", "30", h.container)
	l.awaitBoot(h)
}

// noted is what a host's supervisor has noted of its worker.
func (l *lab) noted(h *unitHost) (s host.State) {
	l.t.Helper()
	if err := json.Unmarshal([]byte(l.inside(h.labHost, "root", "cat "+h.home+"/dodoor/run/"+h.name+".json")), &s); err != nil {
		l.t.Fatal(err)
	}
	return s
}

// await waits until a host's worker runs otherwise than before.
func (l *lab) await(h *unitHost, differs func(host.State) bool) host.State {
	l.t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; {
		if s := l.noted(h); s.PID != 0 && differs(s) {
			return s
		}
	}
	l.t.Fatalf("%s has not come back: %+v\n%s", h.name, l.noted(h), l.inside(h.labHost, "root", "tail "+h.home+"/dodoor/log/*"))
	return host.State{}
}

// Services are units of the machine's systemd for root, and of the user's own for everybody else who lingers.
func TestServicesAreUnits(t *testing.T) {
	l := newLab(t, 0)
	l.image = "dodoor/testsystemd"
	l.must("docker", "build", "-q", "-t", l.image, "testdata/systemd")
	hosts := []*unitHost{
		l.newUnitHost("ops", "/home/ops", "XDG_RUNTIME_DIR=/run/user/1000 systemctl --user"),
		l.newUnitHost("root", "/root", "systemctl"),
		l.newUnitHost("ops", "/home/ops", ""), // who may not linger there
	}
	for _, h := range hosts {
		l.awaitBoot(h)
	}
	l.inside(hosts[0].labHost, "root", "loginctl enable-linger ops")
	l.inside(hosts[1].labHost, "root", "install -D -m 600 /home/ops/.ssh/authorized_keys /root/.ssh/authorized_keys")
	text, err := os.ReadFile(l.inventory(l.hosts, work))
	if err != nil {
		t.Fatal(err)
	}
	l.write("cluster.toml", strings.Replace(string(text), "\"node-2\"\n", "\"node-2\"\nuser = \"root\"\n", 1))

	why := "node-3: not under systemd, so after a reboot this host needs another up: user 1000 has no lingering"
	if output := l.ok("up"); strings.Count(output, "not under systemd") != 1 || !strings.Contains(output, why) {
		t.Errorf("up:\n%s", output)
	}
	if status := l.ok("status"); strings.Count(status, `"unit":""`) != 1 || strings.Count(status, `"unit":"dodoor-dodoor-`) != 5 {
		t.Errorf("who supervises:\n%s", status)
	}
	for _, h := range hosts[:2] {
		l.comesBack(h)
	}
	l.reboot(hosts[2])
	if status := l.ok("status"); strings.Count(status, `"running":true`) != 5 {
		t.Errorf("after all have rebooted:\n%s", status)
	}
	before := l.noted(hosts[0])
	if again := l.ok("up"); strings.Count(again, " runs, process ") != 6 || l.noted(hosts[0]) != before {
		t.Errorf("up where five of six run, %+v before, %+v now:\n%s", before, l.noted(hosts[0]), again)
	}
	replay := l.ok("run", "--", "replay", "-trace", l.trace(40, 50*time.Millisecond), "-n", "40", "-warmup", "1", "-qps", "0", "-out", l.dir)
	if !strings.Contains(replay, "40 of 40 completed") {
		t.Errorf("%s", replay)
	}
	l.ok("down")
	for _, h := range hosts {
		left := l.inside(h.labHost, "root", "find /etc /home /root /run -name 'dodoor-*.service'; pgrep -a dodoor || true")
		if h.systemctl != "" {
			left += l.inside(h.labHost, h.user, h.systemctl+" list-units --all --no-legend 'dodoor-*'")
		}
		if left != "" {
			t.Errorf("%s: left:\n%s", h.name, left)
		}
	}
}

// comesBack checks that a worker does when it is killed, when its supervisor is, and when the host reboots.
func (l *lab) comesBack(h *unitHost) {
	l.t.Helper()
	unit := "dodoor-dodoor-" + h.name + ".service"
	first := l.noted(h)
	l.inside(h.labHost, "root", fmt.Sprintf("kill -9 %d", first.PID))
	second := l.await(h, func(s host.State) bool { return s.PID != first.PID })
	if second.Supervisor != first.Supervisor || second.Restarts != 1 || second.Unit != unit {
		l.t.Errorf("%s: another than its supervisor started it again: %+v, then %+v", h.name, first, second)
	}
	l.inside(h.labHost, "root", fmt.Sprintf("kill -9 %d", second.Supervisor))
	third := l.await(h, func(s host.State) bool { return s.Identity != second.Identity })
	l.reboot(h)
	last := l.await(h, func(s host.State) bool { return s.Identity != third.Identity })
	active := l.inside(h.labHost, h.user, h.systemctl+" show "+unit+" --property=ActiveState,UnitFileState,MainPID")
	for _, want := range []string{"ActiveState=active\n", "UnitFileState=enabled\n", fmt.Sprintf("MainPID=%d\n", last.Supervisor)} {
		if last.Unit != unit || !strings.Contains(active, want) {
			l.t.Errorf("%s: %+v\n%s", h.name, last, active)
		}
	}
}
