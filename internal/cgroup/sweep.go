package cgroup

import (
	"os"
	"path"
	"path/filepath"

	"dodoor/internal/procfs"
)

// itself is the owner of a folder that is called after nothing else.
func itself(name string) string { return name }

// Sweep kills and removes what a worker's processes of former times have left, and returns how many
// tasks that were.
func Sweep(version Version, worker string) int {
	stale, tasks := map[string]bool{}, map[string]bool{}
	for _, root := range version.Roots() {
		for _, owner := range procfs.Orphans(filepath.Join(root, Parent), worker, itself) {
			stale[owner] = true
			below, _ := os.ReadDir(filepath.Join(root, Parent, owner))
			for _, task := range below {
				if task.IsDir() {
					tasks[path.Join(owner, task.Name())] = true
				}
			}
		}
	}
	for owner := range stale {
		g := &Group{version: version, name: path.Join(Parent, owner)}
		g.Kill()
		_ = g.Remove() // the next process of this worker tries again
	}
	return len(tasks)
}
