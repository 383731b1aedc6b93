package generator

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// world is a client, its schedulers, and a dumb account of what the client may know.
type world struct {
	*rapid.T
	client   *Client
	cfg      ClientConfig
	now      time.Duration
	wake     time.Duration
	ids      []string
	servers  []server
	messages []*Message
	polls    []*Poll // by scheduler

	known   []knowledge   // by scheduler
	owed    map[int32]int // who owes the result of a task, and answers
	joins   []int         // schedulers that are to be connected now
	again   *Message      // failed now, and may be repeated
	maybe   map[int32]int // submissions that may have been taken
	late    []copied      // messages that were given up, and are on their way
	runs    map[string]int
	keepers bool // there may be some
	sent    map[int32]time.Duration
	ended   map[int32]Cause
}

// step checks what a verb wants, and keeps it.
func (w *world) step(actions *Actions) {
	w.Helper()
	w.outlast()
	for _, m := range actions.Send {
		w.posted(m)
	}
	for _, p := range actions.Poll {
		if w.polls[p.Scheduler] != nil || w.known[p.Scheduler].dropped {
			w.Fatalf("two polls of scheduler %d at a time, or one after its end", p.Scheduler)
		}
		w.polls[p.Scheduler] = &p
	}
	for _, e := range actions.Ended {
		w.end(&e)
	}
	w.moved(actions)
	if w.wake = actions.Wake; w.wake != Never && w.wake <= w.now {
		w.Fatalf("at %v, it wants to be woken at %v", w.now, w.wake)
	}
	w.again = nil
}

func (w *world) posted(m *Message) {
	repeated, k := m == w.again && m.repeated, &w.known[m.Scheduler]
	k.messages[m] = k.losses
	switch {
	case len(m.Tasks) == 0 || len(m.Tasks) > w.cfg.MaxBatch:
		w.Fatalf("%d tasks in a message", len(m.Tasks))
	case !repeated && k.left && !w.client.tasks[m.Tasks[0]].bound():
		w.Fatalf("at %v, tasks go to scheduler %d, which left", w.now, m.Scheduler)
	case !repeated && k.down:
		w.Fatalf("at %v, tasks go to scheduler %d, which does not answer", w.now, m.Scheduler)
	case !repeated && w.now < k.rest:
		w.Fatalf("at %v, tasks go to scheduler %d, which rests until %v", w.now, m.Scheduler, k.rest)
	}
	underway := 0
	for _, other := range w.messages {
		if other.Scheduler == m.Scheduler {
			underway++
		}
		for _, i := range m.Tasks {
			if slices.Contains(other.Tasks, i) && w.ended[i] == 0 {
				w.Fatalf("task %d is in two messages", i)
			}
		}
	}
	if w.cfg.Connections > 0 && underway >= w.cfg.Connections {
		w.Fatalf("%d messages under way to scheduler %d", underway+1, m.Scheduler)
	}
	for _, i := range m.Tasks {
		if _, over := w.ended[i]; over {
			w.Fatalf("task %d is submitted after its end", i)
		}
		if _, before := w.sent[i]; !before {
			w.sent[i] = w.now
		}
		if s, owed := w.owed[i]; owed {
			w.Fatalf("task %d goes to scheduler %d, and scheduler %d owes its result", i, m.Scheduler, s)
		}
		if !repeated {
			w.maybe[i]++
		}
	}
	w.messages = append(w.messages, m)
}

func (w *world) end(e *Ending) {
	if _, twice := w.ended[e.Task]; twice {
		w.Fatalf("task %d ended twice", e.Task)
	}
	w.ended[e.Task] = e.Cause + 1
	delete(w.owed, e.Task)
	sent, ok := w.sent[e.Task]
	if !ok {
		sent = Never
	}
	if e.Sent != sent {
		w.Fatalf("task %d was sent at %v, not at %v", e.Task, sent, e.Sent)
	}
	if e.Cause == Collected && (e.Record.ID != w.ids[e.Task] || e.Taken != w.maybe[e.Task]) {
		w.Fatalf("task %d: %+v, and %d submissions may have been taken", e.Task, e, w.maybe[e.Task])
	}
	if id := w.ids[e.Task]; e.Cause == Refused && (id[0] == 't' || id[0] == 'o') || e.Cause == Vanished && id[0] != 'o' {
		w.Fatalf("task %s is refused: %s", id, e.Reason)
	}
}

// pick takes a message off the wire, at random.
func (w *world) pick() *Message {
	i := rapid.IntRange(0, len(w.messages)-1).Draw(w.T, "message")
	m := w.messages[i]
	w.messages = slices.Delete(w.messages, i, i+1)
	return m
}

// Ways of a request.
const (
	arrives = iota
	lost
	answerLost
	delayed
)

// deliver lets a message arrive and its answer, or loses either.
func (w *world) deliver(m *Message, way int) {
	s := &w.servers[m.Scheduler]
	if !s.up || s.cut {
		w.failed(m, map[bool]Failure{true: NotSent, false: Gone}[s.up])
		return
	}
	if way == lost || way == delayed {
		if way == delayed {
			w.late = append(w.late, w.copied(m))
		}
		w.failed(m, Unanswered)
		return
	}
	refused, f, ok := w.arrive(w.copied(m))
	if way == answerLost {
		w.failed(m, Unanswered)
		return
	}
	if !ok {
		w.failed(m, f)
		return
	}
	w.accepted(m)
	w.step(w.client.Accepted(w.now, m, refused))
}

func (w *world) failed(m *Message, f Failure) {
	k := &w.known[m.Scheduler]
	if f != Unanswered && !m.repeated {
		for _, i := range m.Tasks {
			w.maybe[i]--
		}
	}
	switch {
	case f == Overloaded:
		k.rest = w.now + 100*time.Millisecond
	case f == Draining:
		k.rest = w.now + time.Second
	case f == Gone || f == NotSent || f == Unanswered && m.repeated:
		w.silent(m.Scheduler)
	case f == Unanswered && !k.down:
		w.again = m
	}
	w.step(w.client.Failed(w.now, m, f, errTest))
}

// answer lets a scheduler answer its poll, or loses the question or the answer.
func (w *world) answer(scheduler, way int) {
	p, s, k := w.polls[scheduler], &w.servers[scheduler], &w.known[scheduler]
	w.polls[scheduler] = nil
	w.now = max(w.now, p.At)
	reached := s.up && !s.cut && !s.broken && way != lost
	s.broken = false
	after := p.After
	if p.Incarnation != s.incarnation {
		after = 0
	}
	if reached && after > s.told {
		w.Fatalf("scheduler %d forgets its records up to %d, and %d were read", scheduler, after, s.told)
	}
	s.polled = s.polled || reached
	if !reached || way == answerLost || way == delayed {
		f := Unanswered
		if !s.up {
			f = Gone
		}
		if k.failures++; f == Gone || k.failures > 1 {
			w.silent(scheduler)
		}
		w.step(w.client.PollFailed(w.now, scheduler, f, errTest))
		return
	}
	w.answered(scheduler)
	s.told = int64(len(s.records))
	reply := cluster.CollectReply{Incarnation: s.incarnation, Cursor: s.told, Records: s.records[after:], Keeps: s.keeps}
	w.step(w.client.Collected(w.now, scheduler, &reply))
}

// die ends a process, and with it the poll that was under way.
func (w *world) die(scheduler int) {
	s := &w.servers[scheduler]
	s.up, s.broken = false, w.polls[scheduler] != nil && w.polls[scheduler].At <= w.now
}

// pass lets time go by, at most to when the client wants to be woken.
func (w *world) pass(d time.Duration) {
	w.now += d
	if w.wake != Never && w.now >= w.wake {
		w.now = w.wake
		w.outlast()
		w.step(w.client.Tick(w.now))
	}
}
