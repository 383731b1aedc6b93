package scheduler

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// Whatever happens on the way, a worker process gets its placements once each, in order, and without gaps but
// for those that were given up or refused; what was given up never leaves again; pauses and give-ups come
// when they should; and in the end every task is where the replica believes it to be.
func TestDeliveryUnderLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newLossy(t)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			e := w.ends[rapid.IntRange(0, len(w.ends)-1).Draw(t, "node")]
			switch rapid.SampledFrom([]string{"submit", "wait", "message", "message", "message", "worker", "roster"}).Draw(t, "step") {
			case "submit":
				w.submit(rapid.IntRange(1, 8).Draw(t, "tasks"))
			case "wait":
				w.now += rapid.SampledFrom([]time.Duration{1, 10, 200, 1000}).Draw(t, "for") * time.Millisecond
			case "message":
				w.message(e, rapid.SampledFrom([]string{"answered", "answered", "answer lost", "lost", "not sent", "refused", "too large",
					"rejected"}).Draw(t, "fate"))
			case "worker":
				e.disturb(rapid.SampledFrom([]string{"restarts", "forgets", "another", "returns", "returns"}).Draw(t, "what"))
			case "roster":
				w.push()
			}
			w.moves()
		}
		w.settle()
	})
}

var errLost = errors.New("no answer")

// message decides what becomes of the message under way, and checks what the stream makes of it.
func (w *lossy) message(e *end, fate string) {
	move, size := e.move, len(e.UnderWay())
	if move == Rest || fate == "too large" && move == Attach {
		return
	}
	e.move = Rest
	var took *cluster.EnqueueReply
	var attached *cluster.AttachReply
	how, err := Unanswered, errLost
	switch fate {
	case "not sent":
		how = NotSent
	case "refused":
		how = Refused
	case "too large":
		how = TooLarge
	case "answered", "rejected", "answer lost":
		attached, took, err = e.serve(w, move, fate == "rejected")
		if fate == "answer lost" {
			err = errLost
		}
	}
	if how == Unanswered && move == Enqueue {
		e.may = max(e.may, e.sent.Number)
	}
	var verdict Verdict
	switch {
	case err != nil:
		verdict = e.Failed(w.now, how, err)
	case move == Attach:
		verdict = e.Attached(w.now, attached)
	default:
		verdict = e.Enqueued(w.now, took)
	}
	refused := size > 0 && (how == TooLarge && size == 1 || cluster.CodeOf(err) == cluster.Invalid)
	switch {
	case how == TooLarge && size > 1:
		e.most = size / 2
	case move == Enqueue && (err == nil || refused):
		e.answered, e.heal, e.failures, e.most = max(e.answered, e.sent.Number), false, 0, w.of.MaxBatch
		if refused {
			for _, a := range e.sent.Assignments {
				e.refused[a.Number] = true
			}
		}
	case err != nil || e.another:
		w.trouble(e, how == Refused || err == nil, verdict)
	case move == Attach && attached.Incarnation != e.incarnation:
		if next := e.Next(w.now); next != Rest {
			w.Fatalf("%s: move %d on the stream to a process that is gone", e.name, next)
		}
	default:
		e.suspect, e.abandoned = false, false
		if e.answered == int64(len(e.posted)) && !e.heal {
			e.failures = 0
		}
	}
	w.perform(verdict.Actions)
}

// trouble checks what a failure leads to.
func (w *lossy) trouble(e *end, gone bool, o Verdict) {
	if e.failures == 0 {
		e.since = w.now
	}
	e.failures++
	e.failed, e.suspect = w.now, true
	givenUp := !e.abandoned && (gone || w.now-e.since >= w.of.Grace)
	if o.GivenUp != givenUp || (o.Trouble != nil) != (e.failures == 1) {
		w.Fatalf("%s: failure %d after %v: given up %v, want %v; trouble %v", e.name, e.failures, w.now-e.since, o.GivenUp, givenUp, o.Trouble)
	}
	if !givenUp {
		return
	}
	e.abandoned, e.heal = true, false
	e.answered = int64(len(e.posted))
	e.givenUp = e.answered
	if e.attempted != e.may {
		w.Fatalf("%s: given up as if up to %d had arrived, want %d", e.name, e.attempted, e.may)
	}
}

// moves lets every stream act, and checks when, and what leaves.
func (w *lossy) moves() {
	for i, e := range w.ends {
		resting := e.failures > 0 && w.now < e.failed+min(10*time.Millisecond<<min(e.failures-1, 10), time.Second)
		due := e.answered < int64(len(e.posted)) || e.heal || e.abandoned
		want := e.move == Rest && !resting && due
		move := e.Next(w.now)
		if (move != Rest) != want {
			w.Fatalf("%s: move %d; under way %d, resting %v, due %v", e.name, move, e.move, resting, due)
		}
		if _, waits := e.Due(w.now); waits != (resting && e.move == Rest && move == Rest) {
			w.Fatalf("%s: wakes up later: %v, resting %v", e.name, waits, resting)
		}
		if move != Rest {
			e.move = move
		}
		if move == Enqueue {
			e.Message(&e.sent)
			e.sent.Assignments = slices.Clone(e.sent.Assignments)
			w.check(e)
		}
		if got := w.r.nodes.slots[i].suspect; got != e.suspect {
			w.Fatalf("%s: suspect %v, want %v", e.name, got, e.suspect)
		}
	}
}

// check says what a message may hold: the oldest placements that were neither answered nor given up, and P
// behind them. Behind a give-up it may hold P alone.
func (w *lossy) check(e *end) {
	last := e.answered
	for _, a := range e.sent.Assignments {
		last++
		due, bare := e.posted[last-1].Assignment, a.Command != nil && a.Command.Template == nil
		if bare {
			due.Command = a.Command
		}
		if a != due || bare && (a.Command.Digest != e.posted[last-1].template.digest || e.posted[last-1].Assignment.Command.Template == nil) {
			w.Fatalf("%s: %s@%d leaves, and @%d is due", e.name, a.TaskID, a.Number, last)
		}
	}
	if e.sent.Number != last || len(e.UnderWay()) > e.most || len(e.sent.Assignments) == 0 && last != e.givenUp {
		w.Fatalf("%s: a message up to %d with %d placements behind %d", e.name, e.sent.Number, len(e.sent.Assignments), e.answered)
	}
	if p := e.posted[last-1].Placed; e.sent.Placed != p {
		w.Fatalf("%s: P at %d is %+v, want %+v", e.name, last, e.sent.Placed, p)
	}
}

// settle lets all messages through until nothing happens any more.
func (w *lossy) settle() {
	w.push()
	for range 100 {
		w.now += time.Second
		w.perform(w.r.Tick(w.now))
		w.moves()
		for _, e := range w.ends {
			e.another = false
			for e.move != Rest {
				w.message(e, "answered")
				w.moves()
			}
		}
	}
	if n := int(w.r.Statistics().Outcomes[cluster.Failed]); w.r.Pending()+n != w.tasks || w.r.Statistics().Candidates != len(w.ends) {
		w.Fatalf("%d tasks pending and %d refused of %d; %d candidates", w.r.Pending(), n, w.tasks, w.r.Statistics().Candidates)
	}
	for id, task := range w.r.tasks {
		if task.phase != cluster.Accepted || w.ends[task.node].runs[task.number] != id {
			w.Fatalf("task %s is %v at %s as %d, and runs there: %q", id, task.phase, w.r.workers.name(task.worker), task.number,
				w.ends[task.node].runs[task.number])
		}
	}
}

// The way of a placement to its worker and back allocates nothing.
func TestDeliveryAllocatesNothing(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 8, 1000)})
	s := (&Deliveries{Replica: r, MaxBatch: 4}).Open(0)
	d := submit(t, r, 0, request("t", 1, 1, 1))
	s.Post(&d)
	s.Next(0)
	s.Attached(0, &cluster.AttachReply{Incarnation: s.incarnation, Report: cluster.Report{Node: "a"}})
	var e cluster.Enqueue
	var reply cluster.EnqueueReply
	if n := testing.AllocsPerRun(100, func() {
		s.Post(&d)
		if s.Next(0) != Enqueue {
			t.Fatal("nothing leaves")
		}
		s.Message(&e)
		s.Enqueued(0, &reply)
	}); n != 0 {
		t.Errorf("%v allocations per placement", n)
	}
}
