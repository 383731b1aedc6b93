package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/needs"
	"dodoor/internal/procfs"
	"dodoor/worker/executor/executortest"
)

// A folder belongs to the process that its name says, however odd the name of the worker is.
func TestOwnersOfFolders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mine, err := procfs.OwnerName(rapid.StringMatching(`[a-b./% -]{0,5}(\.[0-9]{1,3}){0,3}`).Draw(t, "worker"))
		if got := ownerOfFolder(workFolder + mine + "-123"); err != nil || got != mine {
			t.Fatalf("%q is %q's, %v", mine, got, err)
		}
	})
	for _, name := range []string{"", "dodoor-", "dodoor-w.1.1", "x-w.1.1-2", "dodoor"} {
		if got := ownerOfFolder(name); got != "" {
			t.Errorf("%q is %q's", name, got)
		}
	}
}

// A file that has the name of a folder is not ours.
func TestOnlyFoldersAreSwept(t *testing.T) {
	root := executortest.Tree(t, map[string]string{
		fmt.Sprintf("dodoor-w.%d.1-1/below/file", executortest.Nobody): "", fmt.Sprintf("dodoor-w.%d.1-2", executortest.Nobody): "",
		fmt.Sprintf("dodoor-v.%d.1-1/file", executortest.Nobody): "", "other/file": "",
	})
	if err := os.Symlink(filepath.Join(root, "other"), filepath.Join(root, fmt.Sprintf("dodoor-w.%d.1-3", executortest.Nobody))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", root)
	if n := sweepWorkFolders("w", os.Geteuid()); n != 1 {
		t.Errorf("swept %d", n)
	}
	left, err := filepath.Glob(root + "/*")
	if err != nil || len(left) != 4 || slices.Contains(left, fmt.Sprintf("%s/dodoor-w.%d.1-1", root, executortest.Nobody)) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A folder of a name like ours that is neither this process's user's nor the tasks' is somebody's own.
func TestFoldersOfOthersAreNotSwept(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Real(t, errors.New("only root gives folders away"))
	}
	t.Setenv("TMPDIR", t.TempDir())
	for i, uid := range []int{0, 4000001, 4000002} {
		folder := fmt.Sprintf("%s/dodoor-w.%d.1-%d", os.TempDir(), executortest.Nobody, i)
		if err := errors.Join(os.Mkdir(folder, 0o700), os.Chown(folder, uid, uid)); err != nil {
			t.Fatal(err)
		}
	}
	if n := sweepWorkFolders("w", 4000001); n != 2 {
		t.Errorf("swept %d", n)
	}
	if left, err := filepath.Glob(os.TempDir() + "/*-2"); err != nil || len(left) != 1 {
		t.Errorf("left: %v, %v", left, err)
	}
}
