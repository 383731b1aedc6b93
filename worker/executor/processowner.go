package executor

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// ownerName names this process of a worker like no other before it since the machine's boot, for folders:
// <worker>.<pid>.<start in clock ticks>.
func ownerName(worker string) (string, error) {
	started, err := processStart(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("the start of this process: %w", err)
	}
	return fmt.Sprintf("%s.%d.%d", url.PathEscape(worker), os.Getpid(), started), nil
}

// orphaned reports whether a name is that of a process of a worker, and the process is gone.
func orphaned(name, worker string) bool {
	rest, started, dotted := cutLast(name, ".")
	escaped, pid, dottedToo := cutLast(rest, ".")
	if !dotted || !dottedToo || escaped != url.PathEscape(worker) {
		return false
	}
	number, err := strconv.Atoi(pid)
	ticks, alsoErr := strconv.ParseInt(started, 10, 64)
	if err != nil || alsoErr != nil {
		return false
	}
	now, err := processStart(number)
	return err != nil || now != ticks
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// itself is the owner of a folder that is called after nothing else.
func itself(name string) string { return name }

// sweepCgroups kills and removes what a worker's processes of former times have left, and returns how many
// tasks that were.
func sweepCgroups(version cgroupVersion, worker string) int {
	stale, tasks := map[string]bool{}, map[string]bool{}
	for _, root := range version.roots() {
		for _, owner := range orphans(filepath.Join(root, cgroupHome), worker, itself) {
			stale[owner] = true
			below, _ := os.ReadDir(filepath.Join(root, cgroupHome, owner))
			for _, task := range below {
				if task.IsDir() {
					tasks[path.Join(owner, task.Name())] = true
				}
			}
		}
	}
	for owner := range stale {
		g := &cgroup{version: version, name: path.Join(cgroupHome, owner)}
		g.kill()
		_ = g.remove() // the next process of this worker tries again
	}
	return len(tasks)
}

// orphans lists the folders in another that a process of the worker made which is gone.
func orphans(folder, worker string, owner func(name string) string) (names []string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if entry.IsDir() && orphaned(owner(entry.Name()), worker) {
			names = append(names, entry.Name())
		}
	}
	return names
}
