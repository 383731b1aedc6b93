package cgroup

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dodoor/worker/executor/executortest"
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
	v2 := map[string]string{"self": "0::/\n", "cgroup.controllers": "cpuset cpu io memory pids\n", "cgroup.procs": "",
		"cgroup.subtree_control": ""}
	with := func(files map[string]string, name, text string) map[string]string {
		files = maps.Clone(files)
		files[name] = text
		return files
	}
	first := func(root string) Version { return version1{root + "/cpu", root + "/cpuacct", root + "/memory", ""} }
	for _, c := range []struct {
		name  string
		files map[string]string
		want  func(root string) Version
		fails string
	}{
		{"version 2", v2, func(root string) Version { return version2{root} }, ""},
		{"version 2 without memory", with(v2, "cgroup.controllers", "cpuset cpu\n"), nil, "no controller for memory"},
		{"version 1", v1, first, ""},
		{"version 1 with pids", with(v1, "pids/cgroup.procs", ""), func(root string) Version {
			return version1{root + "/cpu", root + "/cpuacct", root + "/memory", root + "/pids"}
		}, ""},
		{"both, limits in version 1", with(v1, "cgroup.controllers", "hugetlb\n"), first, ""},
		{"version 1 without memory", without("memory/memory.limit_in_bytes"), nil, "there are no control groups"},
		{"version 1 without CPU limits", without("cpu/cpu.cfs_quota_us"), nil, "there are no control groups"},
		{"nothing", nil, nil, "there are no control groups"},
	} {
		root := executortest.Tree(t, c.files)
		found, err := find(place{mount: root, self: filepath.Join(root, "self"), booted: filepath.Join(root, "booted"), pid: os.Getpid()})
		if c.want == nil && (err == nil || !strings.Contains(err.Error(), c.fails)) || c.want != nil && (err != nil || found != c.want(root)) {
			t.Errorf("%s: %v, %v", c.name, found, err)
		}
	}
}

// Two controllers together have one folder per group.
func TestSharedHierarchy(t *testing.T) {
	root := executortest.Tree(t, map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "-1", "cpu,cpuacct/cpuacct.usage": "0",
		"memory/memory.limit_in_bytes": "1"})
	for _, name := range []string{"cpu", "cpuacct"} {
		if err := os.Symlink("cpu,cpuacct", filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := Find(root)
	if err != nil || !slices.Equal(found.Roots(), []string{root + "/cpu,cpuacct", root + "/memory"}) {
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
	root := executortest.Tree(t, map[string]string{
		"cgroup.controllers": "cpu memory io\n", "d/cgroup.controllers": "cpu memory io\n",
		"cgroup.subtree_control": "cpu memory io\n", "d/cgroup.subtree_control": "memory\n",
		"d/t/memory.max": "max", "d/t/memory.swap.max": "max", "d/t/cpu.max": "max 100000", "d/t/cgroup.kill": "",
		"d/t/memory.oom.group": "0", "d/t/pids.max": "max",
		"d/noswap/memory.max": "max", "d/noswap/cpu.max": "max 100000", "d/old/memory.max": "max",
	})
	v := version2{root}
	for _, name := range []string{".", "d"} {
		if err := v.Delegate(name); err != nil {
			t.Error(err)
		}
	}
	contents(t, root, map[string]string{"cgroup.subtree_control": "cpu memory io\n", "d/cgroup.subtree_control": "+cpu +io"})
	for name, fails := range map[string]bool{"d/t": false, "d/noswap": false, "d/old": true, "d/missing": true} {
		if err := v.Confine(&Group{version: v, name: name, limits: Limits{1500, 64 << 20, 9}}); (err != nil) != fails {
			t.Errorf("%s: %v", name, err)
		}
	}
	contents(t, root, map[string]string{"d/t/memory.max": "67108864", "d/t/memory.swap.max": "0", "d/t/cpu.max": "150000 100000",
		"d/t/memory.oom.group": "1", "d/t/pids.max": "9",
		"d/noswap/cpu.max": "150000 100000"})
	v.BeginKill("d/t")
	contents(t, root, map[string]string{"d/t/cpu.max": "max", "d/t/cgroup.kill": "1", "d/t/memory.max": "67108864"})
	if err := v.Delegate("missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a group that is not there: %v", err)
	}
}

func TestLimitsOfVersion1(t *testing.T) {
	root := executortest.Tree(t, map[string]string{
		"memory/t/memory.limit_in_bytes": "9", "memory/t/memory.memsw.limit_in_bytes": "9", "cpu/t/cpu.cfs_quota_us": "5",
		"memory/noswap/memory.limit_in_bytes": "9", "cpuacct/t/x": "",
	})
	v := version1{root + "/cpu", root + "/cpuacct", root + "/memory", ""}
	for name, fails := range map[string]bool{"t": false, "noswap": false, "missing": true} {
		if err := v.Confine(&Group{version: v, name: name, limits: Limits{10, 6 << 20, 9}}); (err != nil) != fails {
			t.Errorf("%s: %v", name, err)
		}
	}
	contents(t, root, map[string]string{"memory/t/memory.limit_in_bytes": "6291456", "memory/t/memory.memsw.limit_in_bytes": "6291456",
		"memory/noswap/memory.limit_in_bytes": "6291456", "cpu/t/cpu.cfs_quota_us": "5"})
	v.BeginKill("t")
	contents(t, root, map[string]string{"cpu/t/cpu.cfs_quota_us": "-1"})
	if got := cfsQuota(Limits{Millicores: 10}); got != "1000" { // the least that the kernel takes
		t.Errorf("10 Millicores are %s µs", got)
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
		root := executortest.Tree(t, c.files)
		if got := (version2{root}).OutOfMemory("."); got != c.want {
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
		root := executortest.Tree(t, map[string]string{
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill " + c.kills + "\n", "memory.failcnt": c.fails + "\n",
			"memory.memsw.failcnt": c.swap + "\n", "memory.max_usage_in_bytes": c.highest + "\n", "memory.limit_in_bytes": "100\n",
		})
		if got := (version1{memory: root}).OutOfMemory("."); got != c.want {
			t.Errorf("version 1, %s: %v", c.name, got)
		}
	}
}

// Whatever a list of members says, this process and the first one are not killed, nor is anybody else's
// group.
func TestMembers(t *testing.T) {
	root := executortest.Tree(t, map[string]string{
		"d/cgroup.procs": fmt.Sprintf("0\n1\n-1\n%d\n4194304\n", os.Getpid()), "d/below/cgroup.procs": "4194305\n", "e/cgroup.procs": "4194306\n",
	})
	g := &Group{version: version2{root}, name: "d"}
	got := g.members()
	slices.Sort(got)
	if !slices.Equal(got, []int{4194304, 4194305}) {
		t.Errorf("%v", got)
	}
}

// What the kernel writes, and what it does not.
func FuzzGroupOf(f *testing.F) {
	f.Add("9:name=systemd:/\n4:memory:/a:b\n2:cpu,cpuacct:/c\n0::/\n", "cpuacct")
	f.Add("memory:/", "memory")
	f.Fuzz(func(t *testing.T, text, controller string) {
		group, found := groupOf(text, controller)
		if !strings.Contains(text, group) || found && !strings.Contains(text, controller+":") && !strings.Contains(text, controller+",") {
			t.Errorf("%q of %q in %q", group, controller, text)
		}
	})
}

func TestGroupOf(t *testing.T) {
	const text = "9:name=systemd:/\n4:memory:/a:b\n2:cpu,cpuacct:/c\n0::/\n"
	for controller, want := range map[string]string{"memory": "/a:b", "cpu": "/c", "cpuacct": "/c", "pids": "", "name": ""} {
		if got, found := groupOf(text, controller); got != want || found != (want != "") {
			t.Errorf("%s: %q, %v", controller, got, found)
		}
	}
}
