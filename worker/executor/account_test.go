package executor

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
)

// tree makes files below a folder of its own.
func tree(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAccounts(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		found bool
		cpu   time.Duration
		peak  int64
	}{
		{"version 1", map[string]string{
			"proc/17/cgroup": "9:name=systemd:/docker/abc\n4:memory:/docker/abc\n2:cpuacct:/docker/abc\n0::/\n",
			"sys/fs/cgroup/cpuacct/docker/abc/cpuacct.usage":             "1500000000\n",
			"sys/fs/cgroup/memory/docker/abc/memory.max_usage_in_bytes":  "7340032\n",
			"sys/fs/cgroup/memory/docker/abc/memory.kmem.usage_in_bytes": "1\n",
		}, true, 1500 * time.Millisecond, 7 << 20},
		{"version 1, two controllers together", map[string]string{
			"proc/17/cgroup": "4:memory:/docker/abc\n2:cpu,cpuacct:/docker/abc\n",
			"sys/fs/cgroup/cpuacct/docker/abc/cpuacct.usage":            "5\n",
			"sys/fs/cgroup/memory/docker/abc/memory.max_usage_in_bytes": "6\n",
		}, true, 5, 6},
		{"version 2", map[string]string{
			"proc/17/cgroup": "0::/system.slice/docker-abc.scope\n",
			"sys/fs/cgroup/system.slice/docker-abc.scope/cpu.stat":    "usage_usec 2500\nuser_usec 2000\nsystem_usec 500\n",
			"sys/fs/cgroup/system.slice/docker-abc.scope/memory.peak": "1048576\n",
		}, true, 2500 * time.Microsecond, 1 << 20},
		{"version 2 of an old kernel", map[string]string{
			"proc/17/cgroup":                          "0::/docker/abc\n",
			"sys/fs/cgroup/docker/abc/cpu.stat":       "usage_usec 2500\n",
			"sys/fs/cgroup/docker/abc/memory.current": "1048576\n",
		}, false, 0, 0},
		{"somebody else", map[string]string{
			"proc/17/cgroup": "4:memory:/user\n2:cpuacct:/user\n",
			"sys/fs/cgroup/cpuacct/user/cpuacct.usage":            "5\n",
			"sys/fs/cgroup/memory/user/memory.max_usage_in_bytes": "6\n",
		}, false, 0, 0},
		{"nobody", nil, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files)
			a, err := findAccount(root, 17, "abc")
			if (err == nil) != c.found {
				t.Fatalf("%+v, %v", a, err)
			}
			if cpu, peak := a.read(); cpu != c.cpu || peak != c.peak {
				t.Errorf("%v, %d bytes", cpu, peak)
			}
			if _, err := findAccount(root, 17, ""); err == nil {
				t.Error("a container without an id has an account")
			}
		})
	}
}

func TestSamples(t *testing.T) {
	m := &meter{}
	one := &container.StatsResponse{MemoryStats: container.MemoryStats{Usage: 100, Stats: map[string]uint64{"inactive_file": 30}}}
	one.CPUStats.CPUUsage.TotalUsage = 5
	m.take(one)
	if m.cpu != 5 || m.peak != 70 {
		t.Errorf("version 2: %v, %d bytes", m.cpu, m.peak)
	}
	m.take(&container.StatsResponse{MemoryStats: container.MemoryStats{Usage: 10, MaxUsage: 200}})
	if m.cpu != 5 || m.peak != 200 {
		t.Errorf("version 1: %v, %d bytes", m.cpu, m.peak)
	}
	m.take(&container.StatsResponse{})
	if m.cpu != 5 || m.peak != 200 {
		t.Errorf("after the end: %v, %d bytes", m.cpu, m.peak)
	}
	idle := &meter{}
	idle.take(&container.StatsResponse{MemoryStats: container.MemoryStats{Usage: 10, Stats: map[string]uint64{"inactive_file": 11}}})
	if idle.peak != 0 {
		t.Errorf("cache alone: %d bytes", idle.peak)
	}
}
