package spool

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"dodoor/internal/cluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, folder string, task, all int64) *Spool {
	t.Helper()
	s, err := New(Config{Worker: "w", Folder: folder, TaskBytes: task, Bytes: all})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// printed runs an attempt that prints two texts.
func printed(s *Spool, job, task string, number int, out, errs string) {
	r := s.Begin("", job, task, number)
	fmt.Fprint(r.Stdout(), out)
	fmt.Fprint(r.Stderr(), errs)
	r.End()
}

// read returns all that is kept of a stream, in small pieces.
func read(t testing.TB, s *Spool, q cluster.OutputRequest) (text string, last cluster.OutputChunk) {
	t.Helper()
	for q.Max = 7; ; q.Offset = int64(len(text)) {
		c, err := s.Read(t.Context(), q, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Data) == 0 {
			return text, c
		}
		text += string(c.Data)
	}
}

func isUnknown(t testing.TB, s *Spool, q cluster.OutputRequest) {
	t.Helper()
	q.Max = 1
	if c, err := s.Read(t.Context(), q, false); cluster.CodeOf(err) != cluster.UnknownTask {
		t.Errorf("%+v: %+v, %v", q, c, err)
	}
}

func files(t testing.TB, folder string) (all []string) {
	t.Helper()
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && path != folder {
			below, _ := filepath.Rel(folder, path)
			all = append(all, below)
		}
		return nil
	})
	return all
}

func TestStreamsAndAttemptsAreApart(t *testing.T) {
	s := open(t, t.TempDir()+"/spool", 1<<20, 1<<30)
	printed(s, "j", "t", 1, "first", "oops")
	printed(s, "j", "t", 3, "", "third")
	printed(s, "j", "t", 2, "second", "")
	printed(s, "", "alone", 0, "\x00\xff\n", "")
	for _, c := range []struct {
		q       cluster.OutputRequest
		want    string
		attempt int
	}{
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Attempt: 1}, "first", 1},
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Attempt: 1, Errors: true}, "oops", 1},
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Attempt: 2}, "second", 2},
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Attempt: 2, Errors: true}, "", 2},
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "t"}, "", 3},
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Errors: true}, "third", 3},
		{cluster.OutputRequest{For: cluster.Everybody, TaskID: "alone"}, "\x00\xff\n", 1},
	} {
		text, last := read(t, s, c.q)
		if text != c.want || !last.Ended || last.Attempt != c.attempt || last.Loss != "" || last.Printed != int64(len(c.want)) {
			t.Errorf("%+v: %q, %+v", c.q, text, last)
		}
	}
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Attempt: 4})
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "other"})
	printed(s, "j", "t", 2, "again", "")
	if text, _ := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Attempt: 2}); text != "again" {
		t.Errorf("an attempt that was run again printed %q", text)
	}
}

// What a task prints nothing of costs no file, and a spool that was not needed no folder.
func TestSilenceCostsNoFile(t *testing.T) {
	folder := t.TempDir() + "/spool"
	s := open(t, folder, 1<<20, 1<<30)
	for i := range maxSilent + 10 {
		printed(s, "j", fmt.Sprint(i), 1, "", "")
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is there: %v", err)
	}
	if len(s.newest) != maxSilent {
		t.Errorf("%d attempts are remembered, want %d", len(s.newest), maxSilent)
	}
	if _, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: fmt.Sprint(maxSilent)}); !last.Ended {
		t.Errorf("%+v", last)
	}
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "9"})
}

// Much output takes the memory of little, and no more than the bound on disk.
func TestMemoryStaysFlat(t *testing.T) {
	const bound, all = 10 << 20, 300 << 20
	folder := t.TempDir()
	s := open(t, folder, bound, 1<<30)
	block := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(block)
	r := s.Begin("", "j", "t", 1)
	before := heap()
	for range all / len(block) {
		r.Stdout().Write(block)
	}
	if grown := heap() - before; grown > 1<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	r.End()
	c, err := s.Read(t.Context(), cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Offset: bound - 5, Max: 100}, false)
	if err != nil || c.Printed != all || c.Kept != bound || !bytes.Equal(c.Data, block[len(block)-5:]) || r.Printed() != all ||
		c.Loss != "truncated: worker w keeps 10 MiB of a task (worker.spool_task_mb)" {
		t.Errorf("%d of %d, %q, %v", c.Kept, c.Printed, c.Loss, err)
	}
	info, err := os.Stat(filepath.Join(folder, "j/t.1.out"))
	if err != nil || info.Size() != bound {
		t.Errorf("%v, %v", info, err)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The oldest that has ended goes first; what runs stays.
func TestTheOldestEndedGoesFirst(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 1<<20, 3*(fileCost+100))
	text := strings.Repeat("x", 100)
	running := s.Begin("", "j", "runs", 1)
	fmt.Fprint(running.Stdout(), text)
	printed(s, "j", "a", 1, text, "")
	printed(s, "j", "b", 1, text, "")
	printed(s, "j", "c", 1, text, "")
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "a"})
	fmt.Fprint(running.Stderr(), text)
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "b"})
	if got, want := files(t, folder), []string{"j", "j/c.1.out", "j/runs.1.err", "j/runs.1.out"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	fmt.Fprint(running.Stdout(), strings.Repeat("y", 200)) // c goes
	fmt.Fprint(running.Stdout(), strings.Repeat("z", fileCost))
	fmt.Fprint(running.Stdout(), "nothing after a gap")
	running.End()
	got, last := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "runs"})
	if got != text+strings.Repeat("y", 200) || last.Printed != 300+fileCost+19 || !strings.Contains(last.Loss, "worker.spool_mb") {
		t.Errorf("%d bytes, %+v", len(got), last)
	}
}

func TestForget(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, 1<<20, 1<<30)
	running := s.Begin("", "a/b", "runs", 1)
	fmt.Fprint(running.Stdout(), "x")
	printed(s, "a/b", "t", 1, "x", "y")
	printed(s, "a/b", "t", 2, "x", "y")
	printed(s, "other", "u", 1, "x", "")
	s.Forget(cluster.Everybody, "a/b")
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "t"})
	fmt.Fprint(running.Stdout(), "more")
	fmt.Fprint(running.Stderr(), "more")
	running.End()
	isUnknown(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: "runs"})
	s.erasing.Wait()
	if got, want := files(t, folder), []string{"other", "other/u.1.out"}; !slices.Equal(got, want) || s.bytes != fileCost+1 {
		t.Errorf("%v, want %v; %d bytes", got, want, s.bytes)
	}
}

// Whoever waits hears of what is printed, and of the end.
func TestFollow(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, folder, 1<<20, 1<<30)
		q := cluster.OutputRequest{For: cluster.Everybody, TaskID: "t", Max: 100, Wait: time.Minute}
		begin := time.Now()
		go func() {
			<-time.After(time.Second)
			r := s.Begin("", "j", "t", 1)
			<-time.After(time.Second)
			fmt.Fprint(r.Stderr(), "not that")
			<-time.After(time.Second)
			fmt.Fprint(r.Stdout(), "line")
			<-time.After(time.Second)
			r.End()
		}()
		for _, want := range []struct {
			data  string
			ended bool
			at    time.Duration
		}{{"line", false, 3 * time.Second}, {"", true, 4 * time.Second}} {
			c, err := s.Read(t.Context(), q, true)
			if err != nil || string(c.Data) != want.data || c.Ended != want.ended || time.Since(begin) != want.at {
				t.Errorf("%+v after %v, %v; want %+v", c, time.Since(begin), err, want)
			}
			q.Offset += int64(len(c.Data))
		}
		q.TaskID, q.Wait = "never", time.Second
		if c, err := s.Read(t.Context(), q, true); err != nil || c.Ended || time.Since(begin) != 5*time.Second {
			t.Errorf("%+v, %v after %v", c, err, time.Since(begin))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if c, err := s.Read(ctx, q, true); err != nil || c.Ended {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestTenThousandTasks(t *testing.T) {
	s := open(t, t.TempDir(), 1<<20, 1<<30)
	var all sync.WaitGroup
	for k := range 10 {
		all.Go(func() {
			for i := range 1000 {
				printed(s, "j", fmt.Sprintf("%d.%d", k, i), 1, fmt.Sprintln("line of", k, i), "")
			}
		})
	}
	all.Wait()
	for _, task := range []string{"0.0", "9.999", "3.141"} {
		text, _ := read(t, s, cluster.OutputRequest{For: cluster.Everybody, TaskID: task})
		if want := "line of " + strings.ReplaceAll(task, ".", " ") + "\n"; text != want {
			t.Errorf("%s printed %q", task, text)
		}
	}
	if want := int64(10_000*fileCost + 10*(10*12+90*13+900*14)); s.bytes != want {
		t.Errorf("%d bytes are counted, want %d", s.bytes, want)
	}
}
