package spool

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// A later process finds what an earlier one has kept, and what was lost of it; what ran has ended.
func TestRestart(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 10, 1<<30)
	printed(s, "j", "whole", 1, "whole", "")
	printed(s, "j", "cut", 2, "0123456789abc", "")
	running := s.Begin("", "", "runs", 1)
	fmt.Fprint(running.Stdout(), "half")
	if err := os.WriteFile(filepath.Join(folder, "notes"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(s.cfg); err == nil || !strings.Contains(err.Error(), "in use by another worker") {
		t.Errorf("two workers have one spool: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, folder, 10, 1<<30)
	for task, want := range map[string]string{"whole": "whole 5 ", "runs": "half 4 the worker ended before the task did",
		"cut": "0123456789 13 truncated: worker w keeps 0 MiB of a task (worker.spool_task_mb)"} {
		text, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: task})
		if got := fmt.Sprint(text, " ", last.Printed, " ", last.Loss); got != want || !last.Ended {
			t.Errorf("%s: %q, want %q; %+v", task, got, want, last)
		}
	}
	s.Forget(cluster.Everybody, "j")
	s.Forget(cluster.Everybody, "")
	s.erasing.Wait()
	if got := files(t, folder); !slices.Equal(got, []string{"notes"}) {
		t.Errorf("%v is left", got)
	}
}

// A disk that is full, or a folder that cannot be written, costs output and nothing else.
func TestFullDisk(t *testing.T) {
	s := open(t, t.TempDir(), 1<<20, 1<<30)
	r := s.Begin("", "j", "t", 1)
	fmt.Fprint(r.Stdout(), "kept")
	r.files[0].Close()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	r.files[0] = full
	for range 3 {
		if n, err := io.WriteString(r.Stdout(), "lost"); n != 4 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	fmt.Fprint(r.Stderr(), "fine")
	r.End()
	text, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t"})
	if text != "kept" || last.Printed != 16 || last.Kept != 4 || !strings.Contains(last.Loss, "no space left on device") {
		t.Errorf("%q, %+v", text, last)
	}
	if text, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Errors: true}); text != "fine" || last.Loss != "" {
		t.Errorf("%q, %+v", text, last)
	}
	if s.bytes != 2*fileCost+8 {
		t.Errorf("%d bytes are counted", s.bytes)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Worker: "w", Folder: file, TaskBytes: 1, Bytes: 1}); err == nil {
		t.Error("a file is a spool")
	}
	file += "-later"
	s = open(t, file, 1<<20, 1<<30)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	printed(s, "j", "t", 1, "x", "")
	_, last = read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t"})
	if last.Printed != 1 || last.Kept != 0 || !strings.Contains(last.Loss, "the spool cannot be written") {
		t.Errorf("%+v", last)
	}
}

// The folder among the temporary files is nobody else's.
func TestDefaultFolder(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	folder := filepath.Join(temporary, "dodoor-spool-w")
	cfg := Config{Worker: "w", TaskBytes: 1 << 20, Bytes: 1 << 30}
	for what, prepare := range map[string]func() error{
		"a link":       func() error { return os.Symlink(temporary, folder) },
		"a file":       func() error { return os.WriteFile(folder, nil, 0o600) },
		"for everyone": func() error { return os.Mkdir(folder, 0o755) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "set worker.spool") {
			t.Errorf("%s: %v", what, err)
		}
		if err := os.Remove(folder); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	printed(s, "", "t", 1, "x", "")
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	if text, _ := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t"}); text != "x" {
		t.Errorf("%q", text)
	}
	s.Close()
}

// Without a spool, output is counted.
func TestNoSpool(t *testing.T) {
	var s *Spool
	r := s.Begin("", "j", "t", 1)
	fmt.Fprint(r.Stdout(), "abc")
	r.Lost("whatever")
	r.End()
	s.Forget(cluster.Everybody, "j")
	if r.Printed() != 3 || s.Close() != nil {
		t.Errorf("%d", r.Printed())
	}
	request := cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Max: 1}
	if _, err := s.Read(t.Context(), request, true); cluster.CodeOf(err) != cluster.UnknownTask {
		t.Error(err)
	}
}
