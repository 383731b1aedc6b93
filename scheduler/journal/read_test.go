package journal

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"dodoor/scheduler"
)

// told is what Read says of some keys.
func told(t rapid.TB, j *Journal, keys ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := j.Read(keys, func(key string, value []byte, damage error) {
		if damage != nil {
			t.Errorf("%q: %v", key, damage)
		}
		if value != nil {
			all[key] = string(value)
		}
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// While one writes, and segments come and go, others read what does not change, and find it.
func TestValuesAreReadWhileSegmentsGo(t *testing.T) {
	j := must(t, t.TempDir())
	defer closeIt(t, j)
	want := map[string]string{}
	for i := range 50 {
		key := fmt.Sprintf("stays%d", i)
		want[key] = strings.Repeat(key, i%7)
		write(t, j, put(key, want[key]))
	}
	keys := append(slices.Collect(maps.Keys(want)), "nobody")
	oldest, rounds := j.segments[0].path, atomic.Int64{}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				if got := told(t, j, keys...); !maps.Equal(got, want) {
					t.Errorf("read %q, want %q", got, want)
				}
				rounds.Add(1)
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := 0; i < 500 || rounds.Load() < 20; i++ {
		write(t, j, put(fmt.Sprintf("t%d", i), "a value that goes soon"))
		write(t, j, scheduler.Change{Key: fmt.Sprintf("t%d", i)})
	}
	close(done)
	readers.Wait()
	if _, err := os.Stat(oldest); !os.IsNotExist(err) {
		t.Errorf("the oldest segment is still there (%v): nothing moved", err)
	}
}

// A bit that changes anywhere in the folder of a running process never changes a value: that is told as it was, or as damaged.
func TestAFlippedByteIsNoValue(t *testing.T) {
	j, err := open(t.TempDir(), quiet, large)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt(t, j)
	want := map[string]string{"a": "the first value", "b": "", "c": "another value\x00\x00\x00"}
	for _, key := range []string{"a", "b", "c"} {
		write(t, j, put("x"+key, key), put(key, want[key]))
	}
	path := j.segments[0].path
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := 0
	for i := range text {
		flipped := slices.Clone(text)
		flipped[i] ^= 1 << (i % 8)
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		err := j.Read([]string{"a", "b", "c"}, func(key string, value []byte, damage error) {
			var d *Damaged
			switch {
			case damage != nil && !errors.As(damage, &d):
				t.Fatalf("byte %d: %v", i, damage)
			case damage != nil:
				broken++
			case value == nil || string(value) != want[key]:
				t.Fatalf("byte %d: %q is %q", i, key, value)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if broken < len("the first value")+len("another value") {
		t.Errorf("%d times damage was seen", broken)
	}
	if err := os.WriteFile(path, text[:len(text)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	err = j.Read([]string{"c"}, func(_ string, _ []byte, damage error) {
		if damage == nil || !strings.Contains(damage.Error(), "cannot be read") {
			t.Errorf("a file cut short: %v", damage)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	err = j.Read([]string{"a"}, func(_ string, _ []byte, damage error) {
		if damage == nil || !strings.Contains(damage.Error(), "the file has gone") {
			t.Errorf("a file that has gone: %v", damage)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// Behind a failure nothing is read: places may name what was never written. That is no damage.
func TestNothingIsReadBehindAFailure(t *testing.T) {
	j := must(t, t.TempDir())
	write(t, j, put("a", "1"))
	j.file.Close()
	if err := j.Write([]scheduler.Change{put("a", "2")}); err == nil {
		t.Fatal("a closed file was written")
	}
	err := j.Read([]string{"a"}, func(string, []byte, error) { t.Error("something is told") })
	if err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("reading says %v", err)
	}
	j.Close()
}

// To read a value costs what it is long, however large its group is.
func BenchmarkRead(b *testing.B) {
	j, err := Open(b.TempDir(), quiet)
	if err != nil {
		b.Fatal(err)
	}
	defer closeIt(b, j)
	var group []scheduler.Change
	var keys []string
	for i := range 100_000 {
		group = append(group, put(fmt.Sprint("r", i), strings.Repeat("x", 200)))
		if i%100 == 0 {
			keys = append(keys, group[i].Key)
		}
	}
	write(b, j, group...)
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Read(keys, func(string, []byte, error) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(keys)), "ns/value")
}
