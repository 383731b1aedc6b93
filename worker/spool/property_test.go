package spool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// history is what one attempt printed, and what came of it.
type history struct {
	user, job, task string
	number          int
	r               *Recording // nil: of an earlier process
	texts           [2]string
	ended           bool
	forgotten       bool
}

// machine drives a spool and remembers all that was printed.
type machine struct {
	s      *Spool
	folder string
	all    []*history     // by their ends, those that run last
	counts map[string]int // by user: their tasks have the same names
}

func (m *machine) begin(t *rapid.T) {
	user := users.Draw(t, "user")
	n := m.counts[user]
	m.counts[user]++
	h := &history{user: user, job: rapid.SampledFrom([]string{"", "j", "a/b"}).Draw(t, "job"), task: fmt.Sprint("t", n%7), number: 1 + n/7}
	h.r = m.s.Begin(h.user, h.job, h.task, h.number)
	m.all = append(m.all, h)
}

var users = rapid.SampledFrom([]string{"", "alice", "bob"})

func (m *machine) running(t *rapid.T) *history {
	var running []*history
	for _, h := range m.all {
		if !h.ended {
			running = append(running, h)
		}
	}
	if len(running) == 0 {
		t.Skip("nothing runs")
	}
	return rapid.SampledFrom(running).Draw(t, "attempt")
}

func (m *machine) write(t *rapid.T) {
	h, stream := m.running(t), rapid.IntRange(0, 1).Draw(t, "stream")
	text := strings.Repeat(string(rune('a'+len(h.texts[stream])%26)), rapid.IntRange(0, 3000).Draw(t, "bytes"))
	w := h.r.Stdout()
	if stream == 1 {
		w = h.r.Stderr()
	}
	if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatalf("wrote %d of %d: %v", n, len(text), err)
	}
	h.texts[stream] += text
}

func (m *machine) end(t *rapid.T) {
	h := m.running(t)
	h.r.End()
	h.ended = true
}

func (m *machine) forget(t *rapid.T) {
	job := rapid.SampledFrom([]string{"j", "a/b"}).Draw(t, "job")
	by := cluster.Asker{User: users.Draw(t, "user"), All: rapid.IntRange(0, 4).Draw(t, "operator") == 0}
	m.s.Forget(by, job)
	if m.s.erasing.Wait(); m.s.doomed.Len() > 0 {
		t.Fatalf("%d forgotten attempts have files", m.s.doomed.Len())
	}
	for _, h := range m.all {
		h.forgotten = h.forgotten || h.job == job && by.Sees(h.user)
	}
}

// restart is another process. What ran has ended for it.
func (m *machine) restart(t *rapid.T) {
	for _, h := range m.all {
		if !h.ended {
			h.r.End()
			h.ended = true
		}
	}
	err := m.s.Close()
	if err == nil {
		m.s, err = New(m.s.cfg)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check compares all that the spool says with what was printed, and its account with the disk.
func (m *machine) check(t *rapid.T) {
	var used int64
	_ = filepath.WalkDir(m.folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && !strings.HasSuffix(path, lossEnding) {
			info, _ := entry.Info()
			used += info.Size() + fileCost
		}
		return nil
	})
	if used != m.s.bytes || used > m.s.cfg.Bytes {
		t.Fatalf("%d bytes are on the disk, %d in the account, %d are allowed", used, m.s.bytes, m.s.cfg.Bytes)
	}
	for _, h := range m.all {
		kept := int64(0)
		for stream, text := range h.texts {
			c, err := m.s.Read(t.Context(), cluster.OutputRequest{For: cluster.Asker{User: h.user}, TaskID: h.task,
				Attempt: h.number, Errors: stream == 1, Max: 1 << 20}, false)
			switch {
			case err != nil && (h.forgotten || h.ended):
				continue // it may have made room
			case err != nil || h.forgotten || c.Ended != h.ended || c.Kept != int64(len(c.Data)) || !strings.HasPrefix(text, string(c.Data)):
				t.Fatalf("%+v: %v", h, err)
			case c.Printed != int64(len(text)) && c.Loss != "" || len(c.Data) != len(text) && c.Loss == "":
				t.Fatalf("%d of %d bytes, said to be %d, lost: %q", len(c.Data), len(text), c.Printed, c.Loss)
			}
			kept += c.Kept
		}
		if kept > m.s.cfg.TaskBytes {
			t.Fatalf("%d bytes of one attempt", kept)
		}
	}
}

// Whatever happens, what is read is a beginning of what was printed, of nobody else's task of that name, nothing is missing without a
// word, and the bounds hold on the disk.
func TestSpoolAgainstHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parent, err := os.MkdirTemp("", "spool-test")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(parent)
		m := &machine{folder: filepath.Join(parent, "spool"), counts: map[string]int{}}
		if m.s, err = New(Config{Worker: "w", Folder: m.folder, TaskBytes: 5000, Bytes: 40_000}); err != nil {
			t.Fatal(err)
		}
		defer func() { m.s.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"begin": m.begin, "write": m.write, "write more": m.write, "and more": m.write, "end": m.end,
			"rare": func(t *rapid.T) {
				switch rapid.IntRange(0, 9).Draw(t, "event") {
				case 0:
					m.forget(t)
				case 1:
					m.restart(t)
				}
			},
			"": m.check,
		})
		for _, h := range m.all {
			if !h.ended {
				h.r.End()
			}
		}
	})
}
