package generator

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawWorld is a client of a few schedulers with tasks of which some are refused (r) and some spoil every
// message (p).
func drawWorld(t *rapid.T, patience time.Duration, keepers bool) *world {
	w := &world{T: t, keepers: keepers,
		maybe: map[int32]int{}, owed: map[int32]int{}, sent: map[int32]time.Duration{}, ended: map[int32]Cause{},
		runs: map[string]int{}}
	n := rapid.IntRange(1, 3).Draw(t, "schedulers")
	w.cfg = ClientConfig{Connections: rapid.IntRange(0, 2).Draw(t, "connections"), MaxBatch: rapid.IntRange(1, 4).Draw(t, "batch"),
		Skew: rapid.SampledFrom([]float64{0, 0.6}).Draw(t, "skew"), PollPause: 20 * time.Millisecond, Patience: patience,
		Brief: rapid.Bool().Draw(t, "brief")}
	for i := range n {
		w.cfg.Schedulers = append(w.cfg.Schedulers, w.begin(fmt.Sprint(i)))
	}
	late := rapid.Bool().Draw(t, "nobody is registered at first")
	cfg := w.cfg
	if late {
		cfg.Schedulers = nil
	}
	w.client = NewClient(cfg)
	for i := range rapid.IntRange(1, 12).Draw(t, "tasks") {
		w.ids = append(w.ids, rapid.SampledFrom([]string{"t", "t", "o", "o", "r", "p"}).Draw(t, "kind")+fmt.Sprint(i))
		w.client.Expect(w.ids[i], w.ids[i][0] == 'o')
	}
	w.step(w.client.Start(0))
	if late {
		w.step(w.client.Submit(0, 0))
		w.pass(time.Second)
		for i := range n {
			w.joins = append(w.joins, i)
		}
		w.list(allKnown)
	}
	return w
}

// happen lets one thing happen, at random.
func (w *world) happen(next *int) {
	i := rapid.IntRange(0, len(w.servers)-1).Draw(w.T, "scheduler")
	s := &w.servers[i]
	way := rapid.SampledFrom([]int{arrives, arrives, arrives, lost, answerLost, delayed}).Draw(w.T, "way")
	switch rapid.IntRange(0, 12).Draw(w.T, "event") {
	case 0, 1:
		if *next < len(w.ids) {
			*next++
			w.step(w.client.Submit(w.now, int32(*next-1)))
		}
	case 2, 3:
		if len(w.messages) > 0 {
			w.deliver(w.pick(), way)
		}
	case 4, 5:
		if p := w.polls[i]; p != nil && (w.wake == Never || p.At < w.wake) {
			w.answer(i, way)
		}
	case 6:
		w.pass(rapid.SampledFrom([]time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, absence / 2, silence}).Draw(w.T, "time"))
	case 7:
		s.finish(rapid.SampledFrom(w.ids).Draw(w.T, "task"))
	case 8:
		s.mood = rapid.SampledFrom([]Failure{Unanswered, Unanswered, Overloaded, Draining}).Draw(w.T, "mood")
	case 9:
		switch rapid.IntRange(0, 3).Draw(w.T, "fate") {
		case 0:
			w.die(i)
		case 1:
			w.die(i)
			s.restart()
		default:
			s.cut = !s.cut
		}
	case 12:
		if len(w.late) > 0 {
			c := w.late[0]
			if w.late = w.late[1:]; w.servers[c.scheduler].up {
				w.arrive(c)
			}
		}
	case 10:
		w.change(i)
	case 11:
		w.list(rapid.SampledFrom([]int{nobodyKnown, someKnown, allKnown, allKnown}).Draw(w.T, "list"))
	}
}

// settle lets everything work again, until nothing is open.
func (w *world) settle() {
	for i := range w.servers {
		if s := &w.servers[i]; !s.up {
			s.restart()
		} else {
			s.cut, s.mood = false, Unanswered
		}
	}
	for round := range 1000 {
		if w.list(allKnown); w.client.Open() == 0 {
			w.farewell()
			return
		}
		for len(w.messages) > 0 {
			m := w.messages[0]
			w.messages = w.messages[1:]
			w.deliver(m, arrives)
		}
		for i := range w.servers {
			for _, id := range w.ids {
				w.servers[i].finish(id)
			}
			switch s := &w.servers[i]; { // who left drains, and another process comes after it
			case w.known[i].registered:
			case round < 100:
				s.mood = Draining
			case round == 100:
				w.die(i)
				s.restart()
			}
			if w.polls[i] != nil {
				w.answer(i, arrives)
			}
		}
		w.pass(50 * time.Millisecond)
	}
	w.Fatalf("%d of %d tasks never end", w.client.Open(), len(w.ids))
}

// Whatever is lost, before or after its effect, dies, returns, rests, is cut off, joins, leaves or moves: every task ends
// once, and as it must. Nothing goes to a scheduler that rests, left or does not answer, but for the repetition of a
// message whose fate is open; a task that a scheduler has because we sent it twice is not failed; none is sent
// elsewhere while a scheduler owes its result that answers; who left is asked for what it owes, and then no more;
// no record is acknowledged that was not read; and what must not run twice does not, also where a message arrives that was
// given up long before. world checks that.
func TestEveryTaskEndsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, next := drawWorld(t, 24*time.Hour, true), 0
		for range rapid.IntRange(0, 150).Draw(t, "events") {
			w.happen(&next)
		}
		for ; next < len(w.ids); next++ {
			w.step(w.client.Submit(w.now, int32(next)))
		}
		w.settle()
		for i, id := range w.ids {
			want := map[byte]Cause{'t': Collected, 'o': Collected, 'r': Refused, 'p': Refused}[id[0]]
			if got := w.ended[int32(i)] - 1; got != want && !(id[0] == 'o' && got == Vanished) {
				t.Errorf("task %s ended as %d, want %d", id, got, want)
			}
		}
	})
}

// A client that is stopped, or whose schedulers are gone for good, ends everything in time.
func TestEveryTaskEndsInTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stopped := rapid.Bool().Draw(t, "stopped") // otherwise what a scheduler keeps is waited for
		w, next := drawWorld(t, 10*time.Second, stopped), 0
		for range rapid.IntRange(0, 100).Draw(t, "events") {
			w.happen(&next)
		}
		if stopped {
			w.step(w.client.Stop(w.now))
		}
		for i := range w.servers {
			w.die(i)
		}
		patience := defaultDrainTimeout
		if !stopped {
			patience = silence + w.cfg.Patience + time.Second // it has to notice, first
		}
		for end := w.now + patience; w.now < end && w.client.Open() > 0; w.pass(20 * time.Millisecond) {
			for len(w.messages) > 0 {
				w.deliver(w.pick(), arrives)
			}
			for i, p := range w.polls {
				if p != nil && p.At <= w.now {
					w.answer(i, arrives)
				}
			}
		}
		for i, id := range w.ids {
			if cause, ok := w.ended[int32(i)]; !ok || !stopped && (cause-1 == NotSubmitted || cause-1 == Abandoned) {
				t.Errorf("stopped: %v: task %s ended: %v, as %d", stopped, id, ok, cause-1)
			}
		}
	})
}
