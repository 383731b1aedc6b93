package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// What is forgotten is nobody's at once, and its files go in turns with what others do: between two of them there is time
// for everybody. An attempt that begins again meanwhile keeps its own.
func TestForgetInTurns(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 10, 1<<30)
	for i := range 100 {
		printed(s, "j", fmt.Sprint(i), 1, "more than ten bytes", "x")
	}
	s.erasing.Add(1) // as if somebody were at it
	s.doomed.PushBack(&attempt{})
	s.Forget(cluster.Everybody, "j")
	for i := range 100 {
		isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: fmt.Sprint(i)})
	}
	if s.doomed.Len() != 101 || s.bytes != 100*(fileCost+10) {
		t.Errorf("%d attempts wait, %d bytes", s.doomed.Len(), s.bytes)
	}
	for range 5 {
		s.eraseDoomed()
	}
	if left := len(files(t, folder)); left != 1+2*96 {
		t.Errorf("%d files and folders after five steps", left)
	}
	ended, runs := s.Begin("", "j", "98", 1), s.Begin("", "j", "99", 1)
	fmt.Fprint(ended.Stdout(), "again, too much")
	ended.End()
	fmt.Fprint(runs.Stderr(), "again")
	s.eraseAll()
	s.erasing.Done()
	want := []string{"j", "j/98.1.loss", "j/98.1.out", "j/99.1.err"}
	if got := files(t, folder); !slices.Equal(got, want) || s.bytes != 2*fileCost+15 {
		t.Errorf("%v, want %v; %d bytes", got, want, s.bytes)
	}
	runs.End()
	if text, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "98"}); text != "again, too" || last.Loss == "" {
		t.Errorf("%q, %+v", text, last)
	}
	if text, _ := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "99", Errors: true}); text != "again" {
		t.Errorf("%q", text)
	}
}

// What waits to be removed makes room first.
func TestTheForgottenMakesRoom(t *testing.T) {
	s := open(t, t.TempDir(), 1<<20, 2*(fileCost+1))
	printed(s, "kept", "k", 1, "x", "")
	printed(s, "j", "t", 1, "x", "")
	s.erasing.Add(1)
	s.doomed.PushBack(&attempt{})
	s.Forget(cluster.Everybody, "j")
	printed(s, "new", "n", 1, "x", "")
	s.erasing.Done()
	for _, task := range []string{"k", "n"} {
		if text, _ := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: task}); text != "x" {
			t.Errorf("%s: %q", task, text)
		}
	}
}

// However little each of them printed, not more than so many are remembered.
func TestAttemptsAreBounded(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 1<<20, 1<<30)
	s.mostKept = 5
	for i := range 20 {
		printed(s, "j", fmt.Sprint(i), 1, "x", "")
	}
	if len(s.newest) != 5 || len(files(t, folder)) != 6 || s.bytes != 5*(fileCost+1) {
		t.Errorf("%d attempts, %v, %d bytes", len(s.newest), files(t, folder), s.bytes)
	}
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "14"})
}

// Somebody who makes the folder among the temporary files before the first print gets nothing, and has nothing overwritten.
func TestAFolderThatSomebodyElseMade(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	for what, prepare := range map[string]func(folder string) error{
		"for everyone": func(folder string) error {
			if err := os.MkdirAll(folder+"/j", 0o777); err != nil {
				return err
			}
			if err := os.Chmod(folder, 0o777); err != nil {
				return err
			}
			return os.Symlink(victim, folder+"/j/t.1.out")
		},
		"a link": func(folder string) error { return os.Symlink(filepath.Dir(victim), folder) },
	} {
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		s, err := New(Config{Worker: "w", TaskBytes: 1 << 20, Bytes: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		if err := prepare(filepath.Join(temporary, "dodoor-spool-w")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(victim, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		printed(s, "j", "t", 1, "evil", "")
		_, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t"})
		if text, _ := os.ReadFile(victim); string(text) != "old" || last.Kept != 0 || !strings.Contains(last.Loss, "for this user alone") {
			t.Errorf("%s: the file has %q: %+v", what, text, last)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file of the spool's is never somebody else's, in whatever folder.
func TestLinksAreNotWrittenTo(t *testing.T) {
	folder, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	s := open(t, folder, 1, 1<<30)
	if err := os.Mkdir(folder+"/j", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"t.1.out", "t.1.loss"} {
		if err := os.Symlink(victim, folder+"/j/"+name); err != nil {
			t.Fatal(err)
		}
	}
	printed(s, "j", "t", 1, "too much", "")
	if _, err := os.Lstat(victim); !os.IsNotExist(err) {
		t.Errorf("it was written to: %v", err)
	}
}
