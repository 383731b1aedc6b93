package journal

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"dodoor/scheduler"
)

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// small sizes make that a few groups fill several segments; large ones, that one takes all. No test pulls the plug.
var (
	small = sizes{segment: 400, spare: 600, sync: func(*os.File) error { return nil }}
	large = sizes{segment: 1 << 20, spare: 1 << 20, sync: small.sync}
)

// must opens a folder that is whole.
func must(t rapid.TB, folder string) *Journal {
	t.Helper()
	j, err := open(folder, quiet, small)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// content is what Each tells.
func content(t rapid.TB, j *Journal) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := j.Each(func(key string, value []byte) error {
		if _, twice := all[key]; twice {
			t.Errorf("key %q was told twice", key)
		}
		all[key] = string(value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// after is the oracle: what a group makes of a map.
func after(m map[string]string, changes []scheduler.Change) map[string]string {
	m = maps.Clone(m)
	for _, c := range changes {
		switch {
		case c.Value != nil:
			m[c.Key] = string(c.Value)
		case c.All:
			maps.DeleteFunc(m, func(k, _ string) bool { return len(k) >= len(c.Key) && k[:len(c.Key)] == c.Key })
		default:
			delete(m, c.Key)
		}
	}
	return m
}

func put(key, value string) scheduler.Change {
	return scheduler.Change{Key: key, Value: []byte(value)}
}

func write(t rapid.TB, j *Journal, changes ...scheduler.Change) {
	t.Helper()
	if err := j.Write(changes); err != nil {
		t.Fatal(err)
	}
}

func closeIt(t rapid.TB, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// files is what a folder holds.
func files(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	list, err := segments(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, s := range list {
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(s.path)] = text
	}
	return all
}

// sample writes groups and returns what held after each, and the size of the only segment then.
func sample(t testing.TB, folder string, groups int) (states []map[string]string, sizes []int64) {
	t.Helper()
	j, err := open(folder, quiet, large)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]string{}
	states, sizes = append(states, state), append(sizes, j.Bytes())
	for i := range groups {
		group := []scheduler.Change{put(fmt.Sprintf("t%d", i), fmt.Sprintf("value %d", i)), {Key: fmt.Sprintf("t%d", i-2)}}
		write(t, j, group...)
		state = after(state, group)
		states, sizes = append(states, state), append(sizes, j.Bytes())
	}
	closeIt(t, j)
	return states, sizes
}
