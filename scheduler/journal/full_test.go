package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dodoor/internal/needs"
	"dodoor/scheduler"
)

// smallDisk mounts a file system of so many bytes.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	folder := t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprint("size=", bytes))
	if errors.Is(err, syscall.EPERM) {
		err = fmt.Errorf("a disk that is full: only root may mount one: %w", err)
	}
	needs.Real(t, err)
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, 0); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// A disk that is full ends the writing with an error that says where, and everything that was durable before is there when there is
// room again.
func TestAFullDisk(t *testing.T) {
	disk := smallDisk(t, 1<<20)
	folder, ballast := filepath.Join(disk, "journal"), filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := open(folder, quiet, usual)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Room(); err == nil || !strings.Contains(err.Error(), "journal "+folder) {
		t.Errorf("a disk with less than the margin: %v", err)
	}
	want := map[string]string{}
	for i := 0; err == nil && i < 1000; i++ {
		group := []scheduler.Change{{Key: fmt.Sprint(i), Value: make([]byte, 3000)}}
		if err = j.Write(group); err == nil {
			want = after(want, group)
		}
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), folder) || len(want) < 50 {
		t.Errorf("after %d groups: %v", len(want), err)
	}
	j.Close()
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	j = must(t, folder)
	defer j.Close()
	if got := content(t, j); !maps.Equal(got, want) {
		t.Errorf("holds %d keys, want %d", len(got), len(want))
	}
	write(t, j, put("more", "yes"))
}
