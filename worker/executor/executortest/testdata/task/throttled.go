package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// throttled prints what this process's control group says of its processor time: "cores SHARE stopped TIMES".
func throttled(string) error {
	group, limits, err := cpuGroup()
	if err != nil {
		return err
	}
	limit := ""
	for _, file := range limits {
		text, err := os.ReadFile(filepath.Join(group, file))
		if err != nil {
			return err
		}
		limit += string(text) + " "
	}
	var quota, period float64
	if _, err := fmt.Sscan(limit, &quota, &period); err != nil {
		return fmt.Errorf("%q: %w", limit, err)
	}
	stat, err := os.ReadFile(filepath.Join(group, "cpu.stat"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(stat)) {
		if times, is := strings.CutPrefix(line, "nr_throttled "); is {
			fmt.Print("cores ", quota/period, " stopped ", times)
			return nil
		}
	}
	return fmt.Errorf("%s/cpu.stat has no nr_throttled", group)
}

// cpuGroup finds the group of the cpu controller, of version 1 or 2, and the files of its limit. A container sees its
// group as the top of the tree, whatever its name says.
func cpuGroup() (folder string, limits []string, err error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(string(groups)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		top := ""
		switch {
		case len(part) < 3:
		case strings.Contains(","+part[1]+",", ",cpu,"):
			top, limits = "/sys/fs/cgroup/cpu", []string{"cpu.cfs_quota_us", "cpu.cfs_period_us"}
		case part[1] == "":
			top, limits = "/sys/fs/cgroup", []string{"cpu.max"}
		}
		for _, folder := range []string{filepath.Join(top, part[len(part)-1]), top} {
			if _, err := os.Stat(filepath.Join(folder, "cpu.stat")); top != "" && err == nil {
				return folder, limits, nil
			}
		}
	}
	return "", nil, fmt.Errorf("no group of the cpu controller in %q", groups)
}
