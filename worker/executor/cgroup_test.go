package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
)

func TestFindCgroups(t *testing.T) {
	v1 := map[string]string{"cpu/cpu.cfs_quota_us": "-1", "cpuacct/cpuacct.usage": "0", "memory/memory.limit_in_bytes": "1"}
	without := func(gone string) map[string]string {
		files := map[string]string{}
		for name, text := range v1 {
			if name != gone {
				files[name] = text
			}
		}
		return files
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  func(root string) cgroupVersion
	}{
		{"version 2", map[string]string{"cgroup.controllers": "cpuset cpu io memory pids\n"}, func(root string) cgroupVersion { return cgroupV2{root} }},
		{"version 2 without memory", map[string]string{"cgroup.controllers": "cpuset cpu\n"}, nil},
		{"version 1", v1, func(root string) cgroupVersion { return cgroupV1{root + "/cpu", root + "/cpuacct", root + "/memory"} }},
		{"both, limits in version 1", map[string]string{"cgroup.controllers": "hugetlb\n", "cpu/cpu.cfs_quota_us": "-1", "cpuacct/cpuacct.usage": "0",
			"memory/memory.limit_in_bytes": "1"}, func(root string) cgroupVersion { return cgroupV1{root + "/cpu", root + "/cpuacct", root + "/memory"} }},
		{"version 1 without memory", without("memory/memory.limit_in_bytes"), nil},
		{"version 1 without CPU limits", without("cpu/cpu.cfs_quota_us"), nil},
		{"nothing", nil, nil},
	} {
		root := tree(t, c.files)
		found, err := findCgroups(root)
		if c.want == nil && !errors.Is(err, errNoCgroups) || c.want != nil && (err != nil || found != c.want(root)) {
			t.Errorf("%s: %v, %v", c.name, found, err)
		}
	}
}

// Two controllers together have one folder per group.
func TestSharedHierarchy(t *testing.T) {
	root := tree(t, map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpuacct.usage": "0", "memory/memory.limit_in_bytes": "1"})
	for _, name := range []string{"cpu", "cpuacct"} {
		if err := os.Symlink("cpu,cpuacct", filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := findCgroups(root)
	if err != nil || !slices.Equal(found.roots(), []string{root + "/cpu,cpuacct", root + "/memory"}) {
		t.Errorf("%v, %v", found, err)
	}
}

// contents checks the files of a tree.
func contents(t *testing.T, root string, want map[string]string) {
	t.Helper()
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v, want %q", name, got, err, text)
		}
	}
}

func TestLimitsOfVersion2(t *testing.T) {
	root := tree(t, map[string]string{
		"cgroup.subtree_control": "cpu memory\n", "d/cgroup.subtree_control": "memory\n",
		"d/t/memory.max": "max", "d/t/memory.swap.max": "max", "d/t/cpu.max": "max 100000", "d/t/cgroup.kill": "",
		"d/noswap/memory.max": "max", "d/noswap/cpu.max": "max 100000", "d/old/memory.max": "max",
	})
	v := cgroupV2{root}
	for _, name := range []string{".", "d"} {
		if err := v.delegate(name); err != nil {
			t.Error(err)
		}
	}
	contents(t, root, map[string]string{"cgroup.subtree_control": "cpu memory\n", "d/cgroup.subtree_control": "+cpu +memory"})
	for name, fails := range map[string]bool{"d/t": false, "d/noswap": false, "d/old": true, "d/missing": true} {
		if err := v.confine(&cgroup{version: v, name: name, limits: limits{1500, 64 << 20}}); (err != nil) != fails {
			t.Errorf("%s: %v", name, err)
		}
	}
	contents(t, root, map[string]string{"d/t/memory.max": "67108864", "d/t/memory.swap.max": "0", "d/t/cpu.max": "150000 100000", "d/noswap/cpu.max": "150000 100000"})
	v.hasten("d/t")
	contents(t, root, map[string]string{"d/t/cpu.max": "max", "d/t/cgroup.kill": "1", "d/t/memory.max": "67108864"})
	if err := v.delegate("missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a group that is not there: %v", err)
	}
}

func TestLimitsOfVersion1(t *testing.T) {
	root := tree(t, map[string]string{
		"memory/t/memory.limit_in_bytes": "9", "memory/t/memory.memsw.limit_in_bytes": "9", "cpu/t/cpu.cfs_quota_us": "5",
		"memory/noswap/memory.limit_in_bytes": "9", "cpuacct/t/x": "",
	})
	v := cgroupV1{root + "/cpu", root + "/cpuacct", root + "/memory"}
	for name, fails := range map[string]bool{"t": false, "noswap": false, "missing": true} {
		if err := v.confine(&cgroup{version: v, name: name, limits: limits{10, 6 << 20}}); (err != nil) != fails {
			t.Errorf("%s: %v", name, err)
		}
	}
	contents(t, root, map[string]string{"memory/t/memory.limit_in_bytes": "6291456", "memory/t/memory.memsw.limit_in_bytes": "6291456",
		"memory/noswap/memory.limit_in_bytes": "6291456", "cpu/t/cpu.cfs_quota_us": "5"})
	v.hasten("t")
	contents(t, root, map[string]string{"cpu/t/cpu.cfs_quota_us": "-1"})
	if got := cfsQuota(limits{millicores: 10}); got != "1000" { // the least that the kernel takes
		t.Errorf("10 millicores are %s µs", got)
	}
}

func TestOutOfMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"version 2, at the limit", map[string]string{"memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n"}, true},
		{"version 2, the machine", map[string]string{"memory.events": "max 0\noom 0\noom_kill 1\n"}, false},
		{"version 2, refused only", map[string]string{"memory.events": "max 7\noom 1\noom_kill 0\n"}, false},
		{"version 2, gone", nil, false},
	} {
		root := tree(t, c.files)
		if got := (cgroupV2{root}).outOfMemory("."); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, c := range []struct {
		name                        string
		kills, fails, swap, highest string
		want                        bool
	}{
		{"counted", "2", "3", "0", "50", true},
		{"counted with swap", "1", "0", "8", "50", true},
		{"not counted", "1", "0", "0", "100", true},
		{"the machine", "1", "0", "0", "99", false},
		{"survived", "0", "3", "3", "100", false},
	} {
		root := tree(t, map[string]string{
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill " + c.kills + "\n", "memory.failcnt": c.fails + "\n",
			"memory.memsw.failcnt": c.swap + "\n", "memory.max_usage_in_bytes": c.highest + "\n", "memory.limit_in_bytes": "100\n",
		})
		if got := (cgroupV1{memory: root}).outOfMemory("."); got != c.want {
			t.Errorf("version 1, %s: %v", c.name, got)
		}
	}
}

// Whatever a list of members says, this process and the first one are not killed, nor is anybody else's
// group.
func TestMembers(t *testing.T) {
	root := tree(t, map[string]string{
		"d/cgroup.procs": fmt.Sprintf("0\n1\n-1\n%d\n4194304\n", os.Getpid()), "d/below/cgroup.procs": "4194305\n", "e/cgroup.procs": "4194306\n",
	})
	g := &cgroup{version: cgroupV2{root}, name: "d"}
	got := g.members()
	slices.Sort(got)
	if !slices.Equal(got, []int{4194304, 4194305}) {
		t.Errorf("%v", got)
	}
}

// stub is a version of control groups without a kernel.
type stub struct {
	cgroupVersion
	before, after error
}

func (s stub) start(_ *cgroup, _ *exec.Cmd, fork func() error) error {
	if s.before != nil {
		return s.before
	}
	return errors.Join(fork(), s.after)
}

func (stub) confine(*cgroup) error { return nil }

// A task that did not begin is lost; one that did, and could not be limited, is ended and has failed.
func TestGroupsThatDoNotTakePrograms(t *testing.T) {
	for want, s := range map[string]stub{
		"lost: start the program: no way in":              {before: errors.New("no way in")},
		"failed: start the program: no limit":             {after: errors.New("no limit")},
		"lost: start the program: fork/exec: unavailable": {before: fmt.Errorf("fork/exec: %w", errors.New("unavailable"))},
	} {
		p := newProcess(t, cgroupOff)
		s.cgroupVersion = cgroupV2{tree(t, map[string]string{"dodoor/cgroup.procs": ""})}
		p.groups = &cgroups{version: s, home: cgroupHome}
		file := filepath.Join(t.TempDir(), "pids")
		r := p.Run(t.Context(), p.task(1, 64, "pid="+file, "sleep=1h"))
		if got := fmt.Sprintf("%v: %s", r.Outcome, r.Reason); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		p.groups = nil
	}
	p := newProcess(t, cgroupOff)
	p.groups = &cgroups{version: cgroupV2{t.TempDir()}, home: "missing"}
	if r := p.Run(t.Context(), p.task(1, 64)); r.Outcome != cluster.Lost || !strings.Contains(r.Reason, "cannot limit the task: control group: mkdir") {
		t.Errorf("%+v", r)
	}
	p.groups = nil
}

// Version 2 for real, as far as it goes where other hierarchies have the controllers: the kernel makes
// processes inside the group, kills them all, and lets the group be removed.
func TestVersion2TakesPrograms(t *testing.T) {
	root := cgroupRoot
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		root = filepath.Join(cgroupRoot, "unified")
	}
	v := cgroupV2{root}
	room := &cgroup{version: v, name: fmt.Sprintf("dodoor-test-%d", os.Getpid())}
	_, err := os.Stat(filepath.Join(root, "cgroup.procs"))
	if err == nil {
		err = makeFolders(v, room.name)
	}
	needs.Real(t, err)
	file := filepath.Join(t.TempDir(), "pids")
	g, err := (&program{path: install(t), args: []string{"spawn=stranger:" + file, "pid=" + file, "sleep=1h"}, dir: "/", room: room}).start()
	if err != nil {
		t.Fatal(err, room.remove())
	}
	defer g.signal(syscall.SIGKILL)
	pids := noted(t, file, 2)
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		if err != nil || !strings.Contains(string(text), "0::/"+room.name+"\n") {
			t.Errorf("process %d is in %s, %v", pid, text, err)
		}
	}
	if cpu, _ := v.account(room.name).read(); cpu <= 0 {
		t.Errorf("%v of CPU time", cpu)
	}
	if !room.kill() {
		t.Error("the group is not empty")
	}
	<-g.done
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d lives on", pid)
		}
	}
	if g.status.Signal() != syscall.SIGKILL || g.cpu > time.Minute {
		t.Errorf("status %v, %v", g.status, g.cpu)
	}
	if err := room.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(root, room.name)); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}
