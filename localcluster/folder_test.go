package localcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"dodoor/worker/executor/executortest"
)

// What a killed process left is removed; what a living one, a worker or anybody else has stays.
func TestSweepFolders(t *testing.T) {
	root := t.TempDir()
	t.Setenv("TMPDIR", root)
	mine, err := MakeFolder()
	if err != nil {
		t.Fatal(err)
	}
	dead := func(name string) string {
		return filepath.Join(root, fmt.Sprintf("%s.%d.1-5", name, executortest.Nobody))
	}
	want := []string{mine, filepath.Join(root, "dodoor-run-123"), dead("dodoor-own"), dead("other-run-own")}
	for _, folder := range append(want[1:], dead("dodoor-run-own")) {
		if err := os.MkdirAll(filepath.Join(folder, "spool"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	SweepFolders()
	left, err := filepath.Glob(root + "/*")
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, %v, want %v", left, err, want)
	}
}
