package cgroup

import (
	"testing"
	"time"

	"dodoor/worker/executor/executortest"
)

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
		{"executortest.Nobody", nil, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := executortest.Tree(t, c.files)
			a, err := FindAccount(root, 17, "abc")
			if (err == nil) != c.found {
				t.Fatalf("%+v, %v", a, err)
			}
			if cpu, peak := a.Read(); cpu != c.cpu || peak != c.peak {
				t.Errorf("%v, %d bytes", cpu, peak)
			}
			if _, err := FindAccount(root, 17, ""); err == nil {
				t.Error("a container without an id has an account")
			}
		})
	}
}
