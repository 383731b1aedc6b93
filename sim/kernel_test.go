package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// dumbClock is the kernel done simply: a slice that is sorted again for every event.
type dumbClock struct {
	now    time.Duration
	seq    uint64
	events []entry
}

func (c *dumbClock) schedule(d time.Duration, m *message) {
	c.seq++
	c.events = append(c.events, entry{c.now + d, c.seq, m})
}

func (c *dumbClock) next() *message {
	if len(c.events) == 0 {
		return nil
	}
	slices.SortFunc(c.events, func(a, b entry) int {
		if a.before(&b) {
			return -1
		}
		return 1
	})
	e := c.events[0]
	c.events = c.events[1:]
	c.now = e.at
	return e.m
}

// Whatever is scheduled, wherever, happens in the order of (time, sequence): wrong lanes cost time, never
// order.
func TestEventsHappenInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var k kernel
		var dumb dumbClock
		delay := rapid.Custom(func(t *rapid.T) time.Duration {
			if rapid.Bool().Draw(t, "usual") {
				return rapid.SampledFrom([]time.Duration{0, 3, 10}).Draw(t, "constant") // ties are frequent
			}
			return time.Duration(rapid.IntRange(0, 30).Draw(t, "odd"))
		})
		check := func(t *rapid.T) {
			got, want := k.next(), dumb.next()
			if got != want || k.now != dumb.now {
				t.Fatalf("something else happens at %v, want what is due at %v", k.now, dumb.now)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"after": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "how many") {
					m, d := &message{}, delay.Draw(t, "delay")
					k.after(d, rapid.IntRange(0, lanes-1).Draw(t, "lane"), m)
					dumb.schedule(d, m)
				}
			},
			"onHeap": func(t *rapid.T) {
				m, d := &message{}, delay.Draw(t, "delay")
				k.onHeap(d, m)
				dumb.schedule(d, m)
			},
			"next": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "how many") {
					check(t)
				}
			},
		})
		for len(dumb.events) > 0 {
			check(t)
		}
		check(t) // nothing is left
		if k.done != int64(k.seq) {
			t.Fatalf("%d events happened of %d", k.done, k.seq)
		}
	})
}

// A large heap is as right as a small one: what is popped never goes back in time, nor in sequence.
func TestTheHeapIsOrdered(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var k kernel
		for i := range 4000 {
			k.onHeap(time.Duration(rng.IntN(1000)), &message{origin: int32(i)})
			if rng.IntN(3) == 0 {
				k.next()
			}
		}
		var last *message
		at := time.Duration(0)
		for m := k.next(); m != nil; m = k.next() {
			if k.now < at || last != nil && k.now == at && m.origin < last.origin {
				t.Fatalf("seed %d: event %d of %v happens after event %d of %v", seed, m.origin, k.now, last.origin, at)
			}
			last, at = m, k.now
		}
	}
}

// What has happened is not kept alive by the clock.
func TestTheClockForgetsWhatHappened(t *testing.T) {
	var k kernel
	for i := range 100 {
		k.after(time.Duration(i), flightLane, &message{})
		k.onHeap(time.Duration(100-i), &message{})
	}
	for k.next() != nil {
	}
	for i := range k.lanes {
		for _, e := range k.lanes[i].slots {
			if e.m != nil {
				t.Fatal("a lane holds a message that has happened")
			}
		}
	}
	for _, e := range k.heap[:cap(k.heap)] {
		if e.m != nil {
			t.Fatal("the heap holds a message that has happened")
		}
	}
}

// An event costs no memory once lanes and heap have grown to what a run needs.
func TestEventsAllocateNothing(t *testing.T) {
	for hint := range lanes {
		for _, onHeap := range []bool{false, true} {
			t.Run(fmt.Sprintf("lane %d, heap %v", hint, onHeap), func(t *testing.T) {
				var k kernel
				m := &message{}
				schedule := func(i int) {
					if onHeap {
						k.onHeap(time.Duration(i*7919%1000), m)
					} else {
						k.after(time.Millisecond, hint, m)
					}
				}
				for i := range 300 { // as much as waits at a time
					schedule(i)
				}
				i := 0
				if n := testing.AllocsPerRun(10_000, func() {
					schedule(i)
					k.next()
					i++
				}); n != 0 {
					t.Errorf("%v allocations per event", n)
				}
			})
		}
	}
}

func BenchmarkKernel(b *testing.B) {
	for _, waiting := range []int{100, 10_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			var k kernel
			m := &message{}
			for i := range waiting {
				k.onHeap(time.Duration(i*7919%1_000_000), m)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				k.after(time.Millisecond, flightLane, m)
				k.onHeap(time.Duration(i*7919%1_000_000), m)
				k.next()
				k.next()
			}
		})
	}
}
