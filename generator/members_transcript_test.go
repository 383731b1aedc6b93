package generator

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// The scenarios in testdata/members are about a client whose schedulers come and go: whom it connects to, who gets
// which tasks, whom it still asks for results, when it hangs up. It begins with scheduler a at x and b at y.
func TestMembersTranscripts(t *testing.T) {
	transcript.Play(t, "testdata/members", func(t *testing.T) func(c *transcript.Command) string {
		s := &seat{at: map[string]int{"x": 0, "y": 1}, underway: map[int][]*Message{}, tasks: map[string]int32{}}
		s.client = NewClient(ClientConfig{Schedulers: []cluster.SchedulerRef{refOf("a@x"), refOf("b@y")}, MaxBatch: 8})
		s.client.Start(0)
		for i := range 2 {
			s.client.Collected(0, i, records(1))
		}
		return s.play
	})
}

// refOf reads NAME@ADDRESS, and NAME@ADDRESS/INCARNATION.
func refOf(word string) cluster.SchedulerRef {
	ref := cluster.SchedulerRef{Incarnation: 1}
	ref.Name, ref.Address, _ = strings.Cut(word, "@")
	if address, incarnation, ok := strings.Cut(ref.Address, "/"); ok {
		ref.Address = address
		fmt.Sscan(incarnation, &ref.Incarnation)
	}
	return ref
}

// seat is a client that is told what its shell would tell it.
type seat struct {
	client   *Client
	at       map[string]int     // schedulers by address
	underway map[int][]*Message // by scheduler
	tasks    map[string]int32
}

// failures are what a scenario calls them.
var failures = map[string]Failure{"gone": Gone, "unanswered": Unanswered, "draining": Draining, "overloaded": Overloaded,
	"replaced": Replaced}

func (s *seat) play(c *transcript.Command) string {
	verb, polled := strings.CutPrefix(c.Verb, "poll-")
	f, fails := failures[verb]
	switch {
	case c.Verb == "members": // NAME@ADDRESS ...
		var listed []cluster.SchedulerRef
		for _, word := range c.Words {
			listed = append(listed, refOf(word))
		}
		return s.told(s.client.Members(c.Now, listed))
	case c.Verb == "submit", c.Verb == "submit-once": // TASK ...
		var due []int32
		for _, id := range c.Words {
			s.tasks[id] = s.client.Expect(id, c.Verb == "submit-once")
			due = append(due, s.tasks[id])
		}
		return s.told(s.client.Submit(c.Now, due...))
	case c.Verb == "tick":
		return s.told(s.client.Tick(c.Now))
	case c.Verb == "took": // ADDRESS
		return s.told(s.client.Accepted(c.Now, s.message(c), nil))
	case c.Verb == "has": // ADDRESS TASK ...
		var refused []cluster.Refusal
		for _, id := range c.Words[1:] {
			refused = append(refused, cluster.Refusal{TaskID: id, Code: cluster.DuplicateTask})
		}
		return s.told(s.client.Accepted(c.Now, s.message(c), refused))
	case c.Verb == "polled": // ADDRESS [TASK ...]
		reply := records(transcript.Value(c, "incarnation", int64(1)), c.Words[1:]...)
		reply.Keeps = transcript.Value(c, "keeps", false)
		return s.told(s.client.Collected(c.Now, s.scheduler(c), reply))
	case fails && polled: // ADDRESS
		return s.told(s.client.PollFailed(c.Now, s.scheduler(c), f, errTest))
	case fails: // ADDRESS
		return s.told(s.client.Failed(c.Now, s.message(c), f, errTest))
	}
	return c.Unknown()
}

// scheduler is who listens at the address that a command begins with.
func (s *seat) scheduler(c *transcript.Command) int {
	i, known := s.at[c.Word(0)]
	if !known {
		c.Fatalf("nobody joined at %s", c.Word(0))
	}
	return i
}

// message is the first one under way to a scheduler.
func (s *seat) message(c *transcript.Command) *Message {
	i := s.scheduler(c)
	if len(s.underway[i]) == 0 {
		c.Fatalf("no message is under way to %s", c.Word(0))
	}
	m := s.underway[i][0]
	s.underway[i] = s.underway[i][1:]
	return m
}

// told says what the client wants done.
func (s *seat) told(actions *Actions) string {
	var out strings.Builder
	for _, n := range actions.News {
		fmt.Fprintf(&out, "%s: %s\n", n.Scheduler, n.What)
	}
	for _, m := range actions.Join {
		s.at[m.Address] = m.Scheduler
		fmt.Fprintf(&out, "connect to %s as scheduler %d\n", m.Address, m.Scheduler)
	}
	for _, m := range actions.Send {
		var ids []string
		for _, i := range m.Tasks {
			ids = append(ids, s.client.tasks[i].id)
		}
		s.underway[m.Scheduler] = append(s.underway[m.Scheduler], m)
		fmt.Fprintf(&out, "send %s to %s\n", strings.Join(ids, " "), s.address(m.Scheduler))
	}
	for _, e := range actions.Ended {
		if fmt.Fprintf(&out, "%s ended, taken %d times", s.client.tasks[e.Task].id, e.Taken); e.Cause == Vanished {
			fmt.Fprintf(&out, ": lost, %s", e.Reason)
		}
		out.WriteString("\n")
	}
	for _, p := range actions.Poll {
		fmt.Fprintf(&out, "ask %s for results\n", s.address(p.Scheduler))
	}
	for _, i := range actions.Drop {
		fmt.Fprintf(&out, "hang up %s\n", s.address(i))
	}
	return out.String()
}

func (s *seat) address(scheduler int) string {
	var all []string
	for address, i := range s.at {
		if i == scheduler {
			all = append(all, address)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "=")
}
