package rpctest

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// log is what happened, in order.
type log struct {
	mu     sync.Mutex
	events []string
}

func (l *log) add(event string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, event)
}

// TestTurnsAreSorted: whoever asks at the same moment passes in the order of the keys; what a turn
// causes waits behind those who asked before, and time does not pass.
func TestTurnsAreSorted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		turns := NewTurns(synctest.Wait, cmp.Compare[string])
		defer turns.Close()
		start := time.Now()
		for _, key := range []string{"c", "a", "d", "b"} {
			go func() {
				turns.Take(key)
				l.add(key)
				if key == "a" {
					for _, next := range []string{"a2", "a1"} {
						go func() {
							turns.Take(next)
							l.add(next)
						}()
					}
				}
			}()
		}
		turns.Quiet()
		if want := []string{"a", "b", "c", "d", "a1", "a2"}; !slices.Equal(l.events, want) {
			t.Errorf("passed %v, want %v", l.events, want)
		}
		if passed := time.Since(start); passed != 0 {
			t.Errorf("%v passed", passed)
		}
	})
}

// TestATurnLastsUntilAllWait: whatever a turn sets going is over before the next one begins.
func TestATurnLastsUntilAllWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		turns := NewTurns(synctest.Wait, cmp.Compare[int])
		defer turns.Close()
		relay := make(chan string)
		go func() {
			for event := range relay {
				l.add(event)
			}
		}()
		defer close(relay)
		for i := range 20 {
			go func() {
				turns.Take(i)
				for range 3 {
					relay <- string(rune('a' + i))
				}
			}()
		}
		turns.Quiet()
		if !slices.IsSorted(l.events) || len(l.events) != 60 {
			t.Errorf("%d events %v, want 60 in order", len(l.events), l.events)
		}
	})
}

// TestQuietAtOnce: where nobody asked for a turn it is quiet, again and again.
func TestQuietAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(synctest.Wait, cmp.Compare[int])
		turns.Quiet()
		var both sync.WaitGroup
		both.Go(turns.Quiet)
		both.Go(turns.Quiet)
		both.Wait()
		turns.Close()
	})
}
