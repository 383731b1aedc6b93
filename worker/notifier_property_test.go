package worker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// passes draws what time passes between two events: often none, or just what is waited for.
func passes(t *rapid.T, now, wake time.Duration) time.Duration {
	choice := []time.Duration{0, time.Millisecond, 50 * time.Millisecond, 2 * time.Second, 5 * time.Minute}
	if wake > now {
		choice = append(choice, wake-now, wake-now, wake-now-1)
	}
	return rapid.SampledFrom(choice).Draw(t, "time")
}

// fates are what may become of a request. One that is lost may have had its effect.
var fates = []string{"answered", "answered", "answered", "not sent", "answer lost", "refused"}

// carriage is a notifier on a network that loses what it likes, beside a list of what waits.
type carriage struct {
	n      *Node
	client *client // of the process that is attached
	rules  Notifier
	notice Notice
	most   int
	now    time.Duration
	wake   time.Duration // as the notifier says

	waiting  []*waitingResult
	underWay []*waitingResult
	failures int           // in a row
	tried    time.Duration // last
	wanted   bool          // something has ended since a notice was sent, or the last one is to be followed by another
	process  int64         // of the scheduler that runs: it takes nobody else's notices
	received []string      // by it, each once
	ended    []*waitingResult
}

type waitingResult struct {
	id      string
	at      time.Duration
	by      int64 // process that placed the task
	expired bool
}

func (c *carriage) pause() time.Duration {
	pause := 10 * time.Millisecond
	for range c.failures - 1 {
		pause = min(2*pause, time.Second)
	}
	return pause
}

// look asks what follows, and compares.
func (c *carriage) look(t *rapid.T) {
	send, wake := c.rules.Next(c.now, &c.notice)
	c.wake = wake
	want := []any{false, time.Duration(0)}
	switch {
	case c.underWay != nil || !c.wanted:
	case c.failures > 0 && c.now < c.tried+c.pause():
		want[1] = c.tried + c.pause()
	case len(c.waiting) == 0:
		c.wanted, c.failures = false, 0
	default:
		want[0] = true
		c.wanted, c.underWay = false, slices.Clone(c.waiting[:min(c.most, len(c.waiting))])
	}
	if got := []any{send, wake}; !slices.Equal(got, want) || c.rules.Idle() != (c.underWay == nil && !c.wanted) {
		t.Fatalf("at %v: sent, wake %v, want %v; idle %v", c.now, got, want, c.rules.Idle())
	}
	if send {
		var got, oldest []string
		for _, completion := range c.notice.Message.Completions {
			got = append(got, completion.TaskID)
		}
		for _, r := range c.underWay {
			oldest = append(oldest, r.id)
		}
		if !slices.Equal(got, oldest) {
			t.Fatalf("sent %v, want the oldest, %v", got, oldest)
		}
	}
}

func (c *carriage) pass(t *rapid.T) { c.now += passes(t, c.now, c.wake) }

// end lets a task of the process that is attached end.
func (c *carriage) end(t *rapid.T) {
	id := fmt.Sprint("t", len(c.ended))
	if _, _, err := c.n.Enqueue(c.now, c.client.message(c.n, c.client.place(id, shape(1, 1, 1)))); err != nil {
		t.Fatal(err)
	}
	if actions := finished(c.n, c.now, id); !slices.Equal(actions.Notify, []string{"s"}) {
		t.Fatalf("notify %v", actions.Notify)
	}
	r := &waitingResult{id: id, at: c.now, by: c.client.ref.Incarnation}
	c.waiting, c.ended, c.wanted = append(c.waiting, r), append(c.ended, r), true
	c.rules.Post()
}

func (c *carriage) answer(t *rapid.T) {
	if c.underWay == nil {
		t.Skip("none is under way")
	}
	c.settle(rapid.SampledFrom(fates).Draw(t, "fate"))
}

// settle brings the notice under way to its end.
func (c *carriage) settle(fate string) {
	code := cluster.ErrorCode(0)
	switch {
	case fate == "refused":
		code = cluster.Overloaded
	case fate == "not sent":
	case c.notice.Message.SchedulerIncarnation != c.process:
		code = cluster.Stale
	default:
		for _, r := range c.underWay {
			if !slices.Contains(c.received, r.id) {
				c.received = append(c.received, r.id)
			}
		}
	}
	lost := fate == "not sent" || fate == "answer lost"
	if lost {
		c.rules.Failed(c.now)
	} else {
		c.rules.Answered(c.now, &c.notice, code)
	}
	switch {
	case lost || fate == "refused":
		c.failures, c.tried, c.wanted = c.failures+1, c.now, true
	case code == cluster.Stale:
		c.failures = 0
	default:
		c.failures, c.wanted = 0, true
		c.waiting = slices.DeleteFunc(c.waiting, func(r *waitingResult) bool { return slices.Contains(c.underWay, r) })
	}
	c.underWay = nil
}

// restart puts a new process in the scheduler's place, which knows nothing and is not attached.
func (c *carriage) restart(*rapid.T) { c.process, c.received = c.process+1, nil }

func (c *carriage) attach(t *rapid.T) {
	if c.client != nil && c.client.ref.Incarnation == c.process {
		t.Skip("it is attached")
	}
	c.client = &client{ref: cluster.SchedulerRef{Name: "s", Incarnation: c.process}}
	if _, _, err := c.n.Attach(c.now, c.client.ref); err != nil {
		t.Fatal(err)
	}
	c.waiting = nil
}

func (c *carriage) expire(*rapid.T) {
	c.n.Expire(c.now)
	c.waiting = slices.DeleteFunc(c.waiting, func(r *waitingResult) bool {
		r.expired = c.now-r.at >= c.n.cfg.Limits.RetainFor
		return r.expired
	})
}

// heal lets the network work until nothing is to be sent. The process that runs then has every result of its
// tasks that has not expired, in the order in which they ended, and nothing waits that somebody could take.
func (c *carriage) heal(t *rapid.T) {
	for range 3 * len(c.ended) {
		switch {
		case c.underWay != nil:
			c.settle("answered")
		case c.wake > c.now:
			c.now = c.wake
		}
		c.look(t)
	}
	last := -1
	for i, r := range c.ended {
		at := slices.Index(c.received, r.id)
		if at < 0 && r.by == c.process && !r.expired {
			t.Fatalf("task %d of the process that runs was not told", i)
		}
		if at >= 0 && at < last {
			t.Fatalf("told in the order %v", c.received)
		}
		last = max(last, at)
	}
	if c.client.ref.Incarnation == c.process && len(c.waiting) > 0 {
		t.Fatalf("%d results wait", len(c.waiting))
	}
	if !c.rules.Idle() || !c.rules.Retired(c.now+Linger) {
		t.Fatal("not idle, or not to be retired a minute later")
	}
}

// Whatever is lost, and whoever restarts: one notice at a time, with the oldest results, after the pauses of a
// list and a loop; and in the end everybody knows what he can.
func TestNotifierAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, err := New(testConfig())
		if err != nil {
			t.Fatal(err)
		}
		c := &carriage{n: n, most: rapid.IntRange(1, 4).Draw(t, "most"), process: 1}
		c.rules = NewNotifier(n, "s", c.most)
		c.attach(t)
		t.Repeat(map[string]func(*rapid.T){
			"end": c.end, "end again": c.end, "answer": c.answer, "answer again": c.answer, "pass": c.pass, "pass again": c.pass,
			"expire": c.expire, "restart": c.restart, "attach": c.attach, "": c.look,
		})
		c.heal(t)
	})
}
