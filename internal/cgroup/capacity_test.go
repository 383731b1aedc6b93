package cgroup

import (
	"strings"
	"testing"

	"dodoor/worker/executor/executortest"
)

func TestOwnCapacity(t *testing.T) {
	const gib = 1 << 30
	machine := map[string]string{"proc/meminfo": "MemTotal:        8388608 kB\nMemFree: 1 kB\n"}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  Capacity
	}{
		{"no limits of version 2", map[string]string{"proc/self/cgroup": "0::/a.slice\n", "sys/fs/cgroup/a.slice/cpu.max": "max 100000\n",
			"sys/fs/cgroup/a.slice/memory.max": "max\n"}, Capacity{4000, 8 * gib}},
		{"limits of version 2", map[string]string{"proc/self/cgroup": "0::/a.slice/b\n", "sys/fs/cgroup/a.slice/b/cpu.max": "150000 100000\n",
			"sys/fs/cgroup/a.slice/b/memory.max": "2147483648\n"}, Capacity{1500, 2 * gib}},
		{"a limit above", map[string]string{"proc/self/cgroup": "0::/a.slice/b\n", "sys/fs/cgroup/a.slice/cpu.max": "50000 100000\n",
			"sys/fs/cgroup/a.slice/b/cpu.max": "200000 100000\n", "sys/fs/cgroup/a.slice/memory.max": "1073741824\n"}, Capacity{500, gib}},
		{"a container of version 2", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"},
			Capacity{3000, 8 * gib}},
		{"limits of version 1", map[string]string{"proc/self/cgroup": "4:memory:/m\n2:cpu,cpuacct:/c\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us":  "250000\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/memory/m/memory.limit_in_bytes": "1073741824\n"},
			Capacity{2500, gib}},
		{"no limits of version 1", map[string]string{"proc/self/cgroup": "4:memory:/m\n2:cpu:/c\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us":  "-1\n",
			"sys/fs/cgroup/cpu/c/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/memory/m/memory.limit_in_bytes": "9223372036854771712\n"},
			Capacity{4000, 8 * gib}},
		{"a container of version 1", map[string]string{"proc/self/cgroup": "4:memory:/docker/x\n2:cpu:/docker/x\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":  "50000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n"}, Capacity{500, gib}},
		{"more than the machine has", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "900000 100000\n",
			"sys/fs/cgroup/a/memory.max": "99999999999\n"}, Capacity{4000, 8 * gib}},
		{"next to nothing", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "1 100000\n"}, Capacity{1, 8 * gib}},
	} {
		for name, text := range machine {
			c.files[name] = text
		}
		if got, err := Own(executortest.Tree(t, c.files), 4); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

func TestNoCapacity(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"how much memory":     {"proc/self/cgroup": "0::/\n"},
		"which control group": {"proc/meminfo": "MemTotal: 1 kB\n"},
	} {
		if got, err := Own(executortest.Tree(t, files), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v, %v, want %s", got, err, want)
		}
	}
}

// On this machine the answer is at least something.
func TestRealCapacity(t *testing.T) {
	got, err := Own("/", 1)
	if err != nil || got.Millicores < 1 || got.Millicores > 1000 || got.Memory < 64<<20 {
		t.Errorf("%+v, %v", got, err)
	}
}
