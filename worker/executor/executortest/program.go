// Package executortest has what the tests of executors share: the program that tasks run, and ways to look at
// processes. Only tests import it.
package executortest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Built names a file that is testdata/task as an executable, where there is no Go to build it.
const Built = "DODOOR_TEST_PROGRAM"

// Program returns testdata/task as an executable.
var Program = sync.OnceValues(func() ([]byte, error) {
	if file := os.Getenv(Built); file != "" {
		return os.ReadFile(file)
	}
	dir, err := os.MkdirTemp("", "executor-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "task")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "dodoor/worker/executor/executortest/testdata/task")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Install puts the program where the test can run it.
func Install(t *testing.T) (path string) {
	t.Helper()
	binary, err := Program()
	path = filepath.Join(t.TempDir(), "task")
	if err == nil {
		err = os.WriteFile(path, binary, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Noted waits until so many processes of the program have noted their numbers in a file.
func Noted(t *testing.T, file string, n int) (pids []int) {
	t.Helper()
	Eventually(t, "processes note their numbers", func() bool {
		text, _ := os.ReadFile(file)
		pids = nil
		for line := range strings.Lines(string(text)) {
			if pid, err := strconv.Atoi(strings.TrimSuffix(line, "\n")); err == nil && strings.HasSuffix(line, "\n") {
				pids = append(pids, pid)
			}
		}
		return len(pids) == n
	})
	return pids
}

// Tree makes files below a folder of its own.
func Tree(t *testing.T, files map[string]string) (root string) {
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
