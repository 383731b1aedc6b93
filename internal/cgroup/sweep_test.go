package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dodoor/internal/procfs"
	"dodoor/worker/executor/executortest"
)

// The groups of a dead worker go, in every hierarchy.
func TestSweep(t *testing.T) {
	root := t.TempDir()
	v := version1{root + "/cpu", root + "/cpuacct", root + "/memory", root + "/pids"}
	living, err := procfs.OwnerName("w")
	if err != nil {
		t.Fatal(err)
	}
	dead := fmt.Sprintf("w.%d.1", executortest.Nobody)
	for _, folder := range []string{"cpu/dodoor/" + dead + "/1-a", "memory/dodoor/" + dead + "/1-a/below", "memory/dodoor/" + dead + "/2-b",
		"cpuacct/dodoor/" + living + "/1-a", "cpu/dodoor/x." + dead + "/1-a"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if n := Sweep(v, "w"); n != 2 {
		t.Errorf("swept %d tasks", n)
	}
	left, err := filepath.Glob(root + "/*/dodoor/*")
	if want := []string{root + "/cpu/dodoor/x." + dead, root + "/cpuacct/dodoor/" + living}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, %v", left, err)
	}
}
