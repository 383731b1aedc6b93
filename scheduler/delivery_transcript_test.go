package scheduler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// The scenarios in testdata/delivery are about the streams of placements: what leaves when, and what comes of
// answers and their lack. Streams whose time to try again comes before a command's do so first.
func TestDeliveryTranscripts(t *testing.T) {
	transcript.Play(t, "testdata/delivery", func(t *testing.T) func(c *transcript.Command) string {
		w := newWire(t, firstCandidate{})
		return func(c *transcript.Command) string {
			w.out.Reset()
			w.pass(c.Now)
			w.verb(c)
			return w.out.String()
		}
	})
}

// firstCandidate places everything on the first node that takes placements.
type firstCandidate struct{}

func (firstCandidate) Submit(_ time.Duration, t *cluster.Task, v *View) Decision {
	if len(v.Candidates()) == 0 {
		return Decision{}
	}
	return Decision{Place: []Placement{{Task: t, Node: int(v.Candidates()[0])}}}
}
func (firstCandidate) Wants() Wants { return Wants{} }

// wire is a replica and its streams, without anybody at the other ends.
type wire struct {
	t       *testing.T
	r       *Replica
	shared  *Deliveries
	streams []Delivery
	out     strings.Builder
}

func newWire(t *testing.T, p Policy) *wire {
	r := replicaWith(t, testConfig(), p, []cluster.Node{nodeOf("a", 100, 1<<20), nodeOf("b", 100, 1<<20)})
	w := &wire{t: t, r: r, shared: &Deliveries{Replica: r, Scheduler: cluster.SchedulerRef{Name: "s1", Incarnation: testIncarnation},
		MaxBatch: 4, Grace: 2 * time.Second}}
	w.streams = []Delivery{w.shared.Open(0), w.shared.Open(1)}
	return w
}

// failures are what a scenario calls them.
var failures = map[string]struct {
	how Failure
	err error
}{
	"silence":   {Unanswered, errors.New("no answer")},
	"unsent":    {NotSent, errors.New("no connection")},
	"refused":   {Refused, errors.New("connection refused")},
	"too-large": {TooLarge, errors.New("message too large")},
	"stale":     {Unanswered, cluster.Errorf(cluster.Stale, "another process")},
	"stranger":  {Unanswered, cluster.Errorf(cluster.UnknownScheduler, "attach first")},
	"invalid":   {Unanswered, cluster.Errorf(cluster.Invalid, "nonsense")},
}

func (w *wire) verb(c *transcript.Command) {
	now, verb, args := c.Now, c.Verb, c.Words
	var s *Delivery
	if len(args) > 0 {
		if i, known := w.r.nodes.byName[args[0]]; known {
			s = &w.streams[i]
		}
	}
	if s != nil && !s.busy && verb != "ask" {
		c.Fatalf("no message is under way to %s", args[0])
	}
	switch verb {
	case "submit", "submit-once": // task ... (once: they must not run twice)
		for _, id := range args {
			spec := request(id, 1, 1, 1000)
			spec.AtMostOnce = verb == "submit-once"
			actions, refusal := w.r.Submit(now, "client", spec)
			if refusal != nil {
				fmt.Fprintf(&w.out, "refused: %v\n", refusal)
			}
			w.perform(now, actions)
		}
	case "attached": // node incarnation number [name]: the worker's answer to a handshake
		a := &cluster.AttachReply{Report: cluster.Report{Node: args[len(args)-1]}}
		if len(args) == 3 {
			a.Report.Node = args[0]
		}
		a.Incarnation, _ = strconv.ParseInt(args[1], 10, 64)
		a.Number, _ = strconv.ParseInt(args[2], 10, 64)
		w.verdict(now, args[0], s.Attached(now, a))
	case "took": // node [number refused ...]
		reply := &cluster.EnqueueReply{}
		for _, arg := range args[1:] {
			n, _ := strconv.ParseInt(arg, 10, 64)
			reply.Refused = append(reply.Refused, cluster.Refusal{Number: n, Code: cluster.NodeDraining, Message: "closing time"})
		}
		w.verdict(now, args[0], s.Enqueued(now, reply))
	case "ask": // node
		s.Ask()
	default: // a failure: node
		f, known := failures[verb]
		if !known {
			w.commandVerb(c)
			break
		}
		w.verdict(now, args[0], s.Failed(now, f.how, f.err))
	}
	w.moves(now)
}

func (w *wire) verdict(now time.Duration, node string, v Verdict) {
	if v.Trouble != nil {
		fmt.Fprintf(&w.out, "%s is out of reach: %v\n", node, v.Trouble)
	}
	if v.GivenUp {
		fmt.Fprintf(&w.out, "%s is given up\n", node)
	}
	w.perform(now, v.Actions)
}

func (w *wire) perform(_ time.Duration, actions *Actions) {
	for _, i := range actions.Connect {
		fmt.Fprintf(&w.out, "new stream to %s\n", w.r.Node(i).Name)
		for len(w.streams) <= i {
			w.streams = append(w.streams, Delivery{})
		}
		w.streams[i] = w.shared.Open(i)
	}
	for i := range actions.Send {
		d := &actions.Send[i]
		fmt.Fprintf(&w.out, "post %s@%d to %s\n", d.Assignment.TaskID, d.Assignment.Number, w.r.Node(d.Node).Name)
		w.streams[d.Node].Post(d)
	}
	if actions.Wake {
		records, _ := collectAll(w.t, w.r, 0)
		last := records[len(records)-1]
		fmt.Fprintf(&w.out, "ended %s: %v: %s\n", last.ID, last.Outcome, last.Reason)
	}
}

// pass lets the streams try again whose time comes.
func (w *wire) pass(until time.Duration) {
	for i := range w.streams {
		if s := &w.streams[i]; s.failing && !s.busy && s.due <= until {
			fmt.Fprintf(&w.out, "at %v:\n", s.due)
			w.moves(s.due)
		}
	}
}

// moves lets every stream do what it wants, and says when one wants to try again.
func (w *wire) moves(now time.Duration) {
	for i := range w.streams {
		s := &w.streams[i]
		switch s.Next(now) {
		case Attach:
			fmt.Fprintf(&w.out, "-> %s: handshake\n", s.name)
		case Recall:
			var q cluster.ClaimRequest
			s.Question(&q)
			fmt.Fprintf(&w.out, "-> %s: what became of", s.name)
			for _, claim := range q.Claims {
				fmt.Fprintf(&w.out, " %s@%d", claim.TaskID, claim.Number)
			}
			fmt.Fprintln(&w.out)
		case Enqueue:
			var e cluster.Enqueue
			s.Message(&e)
			fmt.Fprintf(&w.out, "-> %s: placements", s.name)
			for _, a := range e.Assignments {
				fmt.Fprintf(&w.out, " %s@%d", a.TaskID, a.Number)
				if a.Command != nil && a.Command.Template != nil {
					fmt.Fprintf(&w.out, "+%s", a.Command.Template.Argv[0])
				}
			}
			fmt.Fprintf(&w.out, ", up to %d, P = %d tasks\n", e.Number, e.Placed.Tasks)
		}
		if wait, resting := s.Due(now); resting {
			fmt.Fprintf(&w.out, "%s rests %v\n", s.name, wait)
		}
	}
}
