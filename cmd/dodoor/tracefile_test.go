package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"

	"dodoor/conf"
	"dodoor/generator"
)

// A trace replaces regular files alone: links stay, and lead to it; pipes and devices are written.
func TestTraceFileKeepsLinksAndPipes(t *testing.T) {
	_, want, _ := trace("azure", "-n", "50")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) {
		if code, _, stderr := trace("azure", "-n", "50", "-out", in(name)); code != exitDone {
			t.Errorf("%s: exit code %d, %s", name, code, stderr)
		}
	}
	if err := os.WriteFile(in("old.csv"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.csv": "old.csv", "dangling.csv": "new.csv"} {
		if err := os.Symlink(target, in(link)); err != nil {
			t.Fatal(err)
		}
		write(link)
		info, err := os.Lstat(in(link))
		text, readErr := os.ReadFile(in(target))
		if err != nil || info.Mode()&os.ModeSymlink == 0 || readErr != nil || string(text) != want {
			t.Errorf("%s: %v, %v, %v, %d bytes behind it", link, info.Mode(), err, readErr, len(text))
		}
	}
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte)
	go func() {
		text, _ := os.ReadFile(in("pipe"))
		read <- text
	}()
	write("pipe")
	if text := <-read; string(text) != want {
		t.Errorf("%d bytes came through the pipe", len(text))
	}
	if code, _, stderr := trace("azure", "-n", "5", "-out", "/dev/null"); code != exitDone {
		t.Errorf("/dev/null: exit code %d, %s", code, stderr)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Fatalf("/dev/null is %v, %v", info.Mode(), err)
	}
}

// Every trace that the README replays exists, and its cluster runs every task of it.
func TestReadmeTraces(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`-conf (\S+\.toml) -trace (\S+\.csv)`).FindAllStringSubmatch(string(readme), -1)
	if len(lines) == 0 {
		t.Fatal("the README replays no trace file")
	}
	for _, l := range lines {
		c, err := conf.Load("../../"+l[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		dims, err := c.Dimensions()
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open("../../" + l[2])
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		requests, err := generator.ReadTrace(file, dims, 0)
		if err != nil {
			t.Fatalf("%s: %v", l[2], err)
		}
		for _, q := range requests {
			if !slices.ContainsFunc(c.Types, func(known conf.TaskType) bool { return known.Name == q.Type }) {
				t.Errorf("%s: task %s is of type %q, which %s does not know", l[2], q.ID, q.Type, l[1])
			}
		}
	}
}
