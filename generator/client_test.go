package generator

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

const ms = time.Millisecond

var errTest = errors.New("no luck")

// named is a scheduler at an address of its own.
func named(name string) cluster.SchedulerRef {
	return cluster.SchedulerRef{Name: name, Address: name + ":1", Incarnation: 1}
}

// expecting is a client of schedulers a, b ... with n tasks called t0, t1 ...
func expecting(schedulers, n int, change func(*ClientConfig)) *Client {
	cfg := ClientConfig{Connections: 1, MaxBatch: 1}
	for i := range schedulers {
		cfg.Schedulers = append(cfg.Schedulers, named(string(rune('a'+i))))
	}
	if change != nil {
		change(&cfg)
	}
	c := NewClient(cfg)
	for i := range n {
		c.Expect(fmt.Sprintf("t%d", i), false)
	}
	c.Start(0)
	for i := range schedulers {
		c.Collected(0, i, &cluster.CollectReply{Incarnation: 1})
	}
	return c
}

func many(cfg *ClientConfig) { cfg.Connections, cfg.MaxBatch = 0, 8 }

// posts says what is sent: "a[0 1] b[2]".
func posts(actions *Actions) string {
	var all []string
	for _, m := range actions.Send {
		all = append(all, fmt.Sprintf("%c%v", 'a'+m.Scheduler, m.Tasks))
	}
	return strings.Join(all, " ")
}

func sends(t *testing.T, actions *Actions, want string) []*Message {
	t.Helper()
	if got := posts(actions); got != want {
		t.Fatalf("sends %q, want %q", got, want)
	}
	return slices.Clone(actions.Send)
}

// sober has a client come back on the dot.
func sober(c *Client) { c.rng = rand.New(zeros{}) }

type zeros struct{}

func (zeros) Uint64() uint64 { return 1 << 34 } // the least that rand does not draw anew

func ends(t *testing.T, actions *Actions, want ...Ending) {
	t.Helper()
	if !slices.Equal(actions.Ended, want) {
		t.Fatalf("ended %+v, want %+v", actions.Ended, want)
	}
}

func records(incarnation int64, ids ...string) *cluster.CollectReply {
	reply := &cluster.CollectReply{Incarnation: incarnation, Cursor: int64(len(ids))}
	for _, id := range ids {
		reply.Records = append(reply.Records, cluster.TaskRecord{ID: id, Outcome: cluster.Finished})
	}
	return reply
}

func TestTasksTakeTurns(t *testing.T) {
	c := expecting(3, 5, many)
	sends(t, c.Submit(0, 0, 1, 2, 3, 4), "a[0 3] b[1 4] c[2]")
	c = expecting(3, 10, func(cfg *ClientConfig) { cfg.MaxBatch, cfg.Skew = 8, 0.5; cfg.Connections = 1 })
	sends(t, c.Submit(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "b[0 4 8] a[1 3 5 7 9] c[2 6]")
}

// A scheduler gets no more messages at a time than it has connections; what waits travels together.
func TestConnections(t *testing.T) {
	c := expecting(1, 8, func(cfg *ClientConfig) { cfg.Connections, cfg.MaxBatch = 2, 3 })
	first := sends(t, c.Submit(0, 0), "a[0]")
	sends(t, c.Submit(0, 1), "a[1]")
	sends(t, c.Submit(0, 2, 3, 4, 5), "")
	sends(t, c.Accepted(5*ms, first[0], nil), "a[2 3 4]")
	if c.Sent(0) != 0 || c.Sent(2) != 5*ms || c.Sent(5) != Never || c.Underway() != 5 {
		t.Errorf("sent at %v, %v, %v; %d under way", c.Sent(0), c.Sent(2), c.Sent(5), c.Underway())
	}
}

// What takes nothing is left alone, for as long as it says or for a shorter or a longer while, and for up to half as long
// again; its tasks go elsewhere, and wait where nobody takes them.
func TestRests(t *testing.T) {
	for _, rests := range []struct {
		f     Failure
		err   error
		least time.Duration
	}{{Overloaded, errTest, 100 * ms}, {Draining, errTest, time.Second},
		{Overloaded, cluster.Later(cluster.Overloaded, 3*time.Second, "full"), 3 * time.Second},
		{Draining, cluster.Later(cluster.Draining, time.Hour, "bye"), mostRest}} {
		c := expecting(2, 3, func(cfg *ClientConfig) { cfg.Patience = time.Hour })
		m := sends(t, c.Submit(0, 0, 2), "a[0]")
		m = sends(t, c.Failed(0, m[0], rests.f, rests.err), "b[2]")
		c.schedulers[0].restUntil = min(c.schedulers[0].restUntil, rests.least*5/4) // so that it is the first
		actions := c.Failed(rests.least/2, m[0], rests.f, rests.err)
		rest := actions.Wake
		if sends(t, actions, ""); rest < rests.least || rest > rests.least*3/2 {
			t.Errorf("wakes at %v, want %v and up to half as much more", rest, rests.least)
		}
		sends(t, c.Submit(rest-1, 1), "")
		m = sends(t, c.Tick(rest), "a[0]")
		c.Accepted(rest, m[0], nil)
		if actions := c.Collected(rest, 0, records(1, "t0")); actions.Ended[0].Taken != 1 {
			t.Errorf("taken %d times: those that rested took nothing", actions.Ended[0].Taken)
		}
	}
}

// Who takes a message does not rest any more, whatever another message was told before.
func TestRestEnds(t *testing.T) {
	c := expecting(1, 3, func(cfg *ClientConfig) { cfg.Connections, cfg.MaxBatch = 2, 1 })
	m := sends(t, c.Submit(0, 0, 1), "a[0] a[1]")
	sends(t, c.Failed(ms, m[0], Overloaded, errTest), "")
	sends(t, c.Submit(ms, 2), "")
	sends(t, c.Accepted(2*ms, m[1], nil), "a[0] a[2]")
}

// A message whose fate is open is repeated at once. That the scheduler has a task already is no failure
// then; otherwise somebody else's task has its name.
func TestDuplicates(t *testing.T) {
	c := expecting(1, 2, many)
	duplicates := func() (all []cluster.Refusal) {
		for _, id := range []string{"t0", "t1"} {
			all = append(all, cluster.Refusal{TaskID: id, Code: cluster.DuplicateTask, Message: "held"})
		}
		return all
	}
	m := sends(t, c.Submit(0, 0), "a[0]")
	m = sends(t, c.Failed(ms, m[0], Unanswered, errTest), "a[0]")
	ends(t, c.Accepted(2*ms, m[0], duplicates()))
	m = sends(t, c.Submit(3*ms, 1), "a[1]")
	ends(t, c.Accepted(4*ms, m[0], duplicates()),
		Ending{Task: 1, Cause: Refused, Reason: "duplicate task: held", Scheduler: "a", Sent: 3 * ms})
	reply := records(1, "t0", "t0", "somebody else's")
	ends(t, c.Collected(5*ms, 0, reply), Ending{Task: 0, Cause: Collected, Record: &reply.Records[0], Scheduler: "a", Taken: 1})
	if c.Open() != 0 || len(c.doubtful) != 0 || len(c.byID) != 0 {
		t.Errorf("%d open; %v, %v", c.Open(), c.doubtful, c.byID)
	}
}

// What a scheduler had that does not answer goes to the next: what it accepted may run twice, what did not
// arrive does not.
func TestASchedulerIsLost(t *testing.T) {
	for _, f := range []Failure{Gone, NotSent} {
		c := expecting(2, 6, many)
		m := sends(t, c.Submit(0, 0), "a[0]")
		c.Accepted(0, m[0], nil)
		m = sends(t, c.Submit(0, 2, 4), "a[2 4]")
		actions := c.Failed(ms, m[0], f, errTest)
		if len(actions.News) != 1 || actions.News[0] != (News{"a", "a:1", Silent, errTest}) {
			t.Errorf("news %v", actions.News)
		}
		m = sends(t, actions, "b[0 2 4]")
		c.Accepted(ms, m[0], nil)
		sends(t, c.Submit(ms, 1), "b[1]")
		actions = c.Collected(2*ms, 1, records(1, "t0", "t2", "t4"))
		if e := actions.Ended; e[0].Taken != 2 || e[1].Taken != 1 || e[2].Taken != 1 {
			t.Errorf("ended %+v", e)
		}
		actions = c.Collected(3*ms, 0, records(1))
		if len(actions.News) != 1 || actions.News[0] != (News{"a", "a:1", Back, nil}) {
			t.Errorf("news %v", actions.News)
		}
		sends(t, c.Submit(3*ms, 3), "b[3]")
		sends(t, c.Submit(3*ms, 5), "b[5]")
	}
}

// What a process had that was replaced goes to another scheduler, as if it were lost.
func TestASchedulerRestarts(t *testing.T) {
	c := expecting(2, 1, nil)
	m := sends(t, c.Submit(0, 0), "a[0]")
	c.Accepted(0, m[0], nil)
	sends(t, c.Collected(ms, 0, records(2)), "b[0]")
}

// Whom a poll reaches: the first failure may be an accident, the second is not, and nobody at the address is
// final. After a failure it does not wait.
func TestPolls(t *testing.T) {
	polls := func(actions *Actions, want Poll) {
		t.Helper()
		if len(actions.Poll) != 1 || actions.Poll[0] != want {
			t.Errorf("polls %+v, want %+v", actions.Poll, want)
		}
	}
	c := expecting(1, 9, func(cfg *ClientConfig) { many(cfg); cfg.PollPause = 20 * ms })
	first := Poll{Max: pollMax}
	polls(NewClient(ClientConfig{Schedulers: []cluster.SchedulerRef{named("a")}}).Start(0), first)
	m := sends(t, c.Submit(0, 0, 1), "a[0 1]")
	c.Accepted(0, m[0], nil)
	polls(c.Collected(5*ms, 0, records(1, "t0")), Poll{At: 25 * ms, Cursor: Cursor{1, 1}, Max: pollMax, Wait: pollWait})
	if last, ok := c.Acknowledge(0); !ok || last != (Poll{Cursor: Cursor{1, 1}, Max: 1}) {
		t.Errorf("acknowledges %+v, %v", last, ok)
	}
	actions := c.PollFailed(30*ms, 0, NotSent, errTest)
	if polls(actions, Poll{At: 30*ms + secondTry, Cursor: Cursor{1, 1}, Max: pollMax}); len(actions.News) > 0 {
		t.Errorf("news after one failure: %v", actions.News)
	}
	if actions = c.PollFailed(230*ms, 0, Unanswered, errTest); len(actions.News) != 1 || actions.News[0].What != Silent {
		t.Errorf("news after two failures: %v", actions.News)
	}
	sends(t, actions, "")
	sends(t, c.Submit(240*ms, 2), "")
	m = sends(t, c.Collected(430*ms, 0, records(1)), "a[1 2]") // it was cut off, and is the same
	ends(t, c.Accepted(430*ms, m[0], []cluster.Refusal{{TaskID: "t1", Code: cluster.DuplicateTask}}))
	actions = c.Collected(440*ms, 0, records(2)) // it is not any more
	if len(actions.News) != 1 || actions.News[0].What != Restarted {
		t.Errorf("news of a restart: %v", actions.News)
	}
	sends(t, actions, "a[1 2]")
	if actions = c.PollFailed(500*ms, 0, Faulty, errTest); len(actions.News) != 1 || actions.News[0].What != Unreadable {
		t.Errorf("news of an error: %v", actions.News)
	}
	if actions = c.PollFailed(600*ms, 0, Gone, errTest); len(actions.News) != 1 || actions.News[0].What != Silent {
		t.Errorf("news when nobody listens: %v", actions.News)
	}
}

// An answer that comes when its scheduler is known to have restarted may be the former process's.
func TestAnswerOfAFormerProcess(t *testing.T) {
	c := expecting(1, 1, nil)
	m := sends(t, c.Submit(0, 0), "a[0]")
	c.Collected(ms, 0, records(2))
	m = sends(t, c.Accepted(2*ms, m[0], nil), "a[0]")
	sends(t, c.Accepted(3*ms, m[0], nil), "")
	if actions := c.Collected(4*ms, 0, records(2, "t0")); actions.Ended[0].Taken != 2 {
		t.Errorf("ended %+v", actions.Ended)
	}
	c = expecting(1, 1, nil) // not when it was asked again since
	m = sends(t, c.Submit(0, 0), "a[0]")
	c.Collected(ms, 0, records(2))
	m = sends(t, c.Failed(2*ms, m[0], Unanswered, errTest), "a[0]")
	sends(t, c.Accepted(3*ms, m[0], nil), "")
}

// A message that fails over one of its tasks is taken apart; the one that is to blame fails alone.
func TestPoisonedMessage(t *testing.T) {
	c := expecting(1, 3, func(cfg *ClientConfig) { cfg.MaxBatch = 8 })
	m := sends(t, c.Submit(0, 0, 1, 2), "a[0 1 2]")
	m = sends(t, c.Failed(0, m[0], Faulty, errTest), "a[0]")
	m = sends(t, c.Accepted(0, m[0], nil), "a[1]")
	actions := c.Failed(0, m[0], Faulty, errTest)
	ends(t, actions, Ending{Task: 1, Cause: Refused, Reason: "no luck", Scheduler: "a"})
	sends(t, actions, "a[2]")
	c = expecting(1, 3, func(cfg *ClientConfig) { cfg.MaxBatch = 8 })
	m = sends(t, c.Submit(0, 0, 1), "a[0 1]")
	c.Submit(0, 2)
	m = sends(t, c.Failed(0, m[0], Faulty, errTest), "a[2]")
	sends(t, c.Accepted(0, m[0], nil), "a[0]")
}

// A task whose template a scheduler does not know goes there once more, with it; then it is refused.
func TestUnknownTemplates(t *testing.T) {
	c := expecting(2, 3, many)
	unknown := []cluster.Refusal{{TaskID: "t2", Code: cluster.UnknownTemplate, Message: "which?"}}
	m := sends(t, c.Submit(0, 0, 2), "a[0 2]")
	m = sends(t, c.Accepted(0, m[0], unknown), "a[2]")
	if !m[0].Whole {
		t.Error("its template does not travel along")
	}
	ends(t, c.Accepted(0, m[0], unknown), Ending{Task: 2, Cause: Refused, Reason: "unknown template: which?", Scheduler: "a"})
}
