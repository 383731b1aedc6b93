package scheduler

import (
	"errors"
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// Delivery carries this replica's placements to one worker process: one message at a time, so that they
// arrive in the order of their numbers. The first message is the handshake; when a message fails, the next
// one is the handshake again. The shell posts what the replica wants sent, asks for the next move, says what
// came of it, and asks again; when nothing is left to do it waits for a post, or until Due.
type Delivery struct {
	of          *Deliveries
	index       int // of the node
	name        string
	incarnation int64

	line     *line // posted and not answered; nil: nothing
	underWay int   // the first of the line travel in a message
	asked    int   // placements in the question under way
	limit    int   // placements in the next message

	busy     bool // a message is under way
	attached bool // the worker has taken the handshake
	failing  bool // nothing got through
	down     bool // the replica gave the worker up: what it held was placed elsewhere
	owing    bool // the handshake is due at once: for placements that were given up and count until then, or to be asked
	since    time.Duration
	due      time.Duration // no message before
	backoff  cluster.Backoff

	attempted int64 // highest number that may have reached the worker
	before    int64 // the same, should the message under way not arrive
}

// Deliveries is what the streams of one replica have in common.
type Deliveries struct {
	Replica   *Replica
	Scheduler cluster.SchedulerRef
	MaxBatch  int           // placements per message
	Grace     time.Duration // how long a worker may be out of reach before its tasks go elsewhere

	spare cluster.Spare[line]
	idle  Actions // nothing to do
}

// Open starts the stream to the process that owns a node's index now.
func (d *Deliveries) Open(index int) Delivery {
	n := d.Replica.Node(index)
	return Delivery{of: d, index: index, name: n.Name, incarnation: n.Incarnation, limit: d.MaxBatch,
		owing: d.Replica.nodes.slots[index].givenUp > 0, attempted: d.Replica.nodes.base}
}

// Move is what a stream wants done next.
type Move uint8

const (
	Rest    Move = iota // nothing
	Attach              // send the handshake
	Enqueue             // send what Message says
	Recall              // ask what Question says, and give the answer to Told
)

// Failure is how much is known about a message without a good answer.
type Failure uint8

const (
	Unanswered Failure = iota // it may have arrived; or the worker answered with an error
	NotSent                   // there was no connection: it did not arrive
	Refused                   // nor will another one: nobody listens at the address, the process is gone
	TooLarge                  // it exceeds what one message can hold, and was not sent
)

// Verdict is what an answer, or the lack of one, leads to.
type Verdict struct {
	Actions *Actions // to be performed
	Trouble error    // why the worker is out of reach, when that is new
	GivenUp bool     // its tasks are placed again
}

// Post queues a placement behind those that wait.
func (s *Delivery) Post(d *Dispatch) {
	if s.line == nil {
		s.line = s.of.spare.Take()
	}
	s.line.push(d)
}

// Ask has the stream shake hands again, after the message under way: is the worker still there?
func (s *Delivery) Ask() { s.attached, s.owing = false, true }

// Next returns what is to be done now. A message counts as under way from then on.
func (s *Delivery) Next(now time.Duration) Move {
	switch {
	case s.busy || now < s.due || s.line == nil && !s.down && !s.owing && !s.asks():
		return Rest
	case !s.attached:
		s.busy = true
		return Attach
	case s.asks():
		s.busy = true
		return Recall
	}
	if s.underWay = s.ready(); s.underWay == 0 {
		return Rest
	}
	s.busy = true
	last := &s.UnderWay()[s.underWay-1]
	s.before, s.attempted = s.attempted, max(s.attempted, last.Assignment.Number)
	return Enqueue
}

// ready returns how many placements may leave now: those that a restarted replica would know of.
func (s *Delivery) ready() int {
	n := min(s.line.len(), s.limit)
	for batch := s.line.first(n); n > 0 && batch[n-1].position > s.of.Replica.journal.durable; {
		n--
	}
	return n
}

// asks reports whether the worker is to be asked what became of placements by an earlier process.
func (s *Delivery) asks() bool { return len(s.of.Replica.claims(s.index, s.incarnation)) > 0 }

// Question writes the question under way. Its claims are never changed.
func (s *Delivery) Question(q *cluster.ClaimRequest) {
	q.Scheduler, q.NodeIncarnation = s.of.Scheduler, s.incarnation
	q.Claims = s.of.Replica.claims(s.index, s.incarnation)
	s.asked = len(q.Claims)
}

// Told takes the answer to a question: what became of each placement in it.
func (s *Delivery) Told(now time.Duration, holdings []cluster.Holding) Verdict {
	s.busy = false
	if len(holdings) != s.asked {
		return s.outOfReach(now, false, fmt.Errorf("worker %s was asked about %d placements, and answers about %d", s.name, s.asked,
			len(holdings)))
	}
	s.recovered()
	return Verdict{Actions: s.of.Replica.claimed(now, s.index, s.incarnation, holdings)}
}

// Message writes the message under way: P at its last number goes with it. A template travels with the first placement of
// it that the worker may not know it from; the message is valid until the next one.
func (s *Delivery) Message(e *cluster.Enqueue) {
	batch := s.UnderWay()
	last := &batch[len(batch)-1]
	e.Scheduler, e.NodeIncarnation = s.of.Scheduler, s.incarnation
	e.Number, e.Placed, e.Assignments = last.Assignment.Number, last.Placed, e.Assignments[:0]
	templates := &s.of.Replica.templates
	templates.messages++
	s.line.bare = s.line.bare[:0]
	for i := range batch {
		d := &batch[i]
		if d.Assignment.TaskID == "" {
			continue
		}
		e.Assignments = append(e.Assignments, d.Assignment)
		if d.template != nil && !templates.travels(d.template, s.index) {
			e.Assignments[len(e.Assignments)-1].Command = s.line.strip(d.Assignment.Command, len(batch))
		}
	}
}

// UnderWay returns the placements in the message under way, valid until the next verb.
func (s *Delivery) UnderWay() []Dispatch {
	if s.underWay == 0 {
		return nil
	}
	return s.line.first(s.underWay)
}

// Due returns how long to wait before the next attempt; false: nothing is to be tried again.
func (s *Delivery) Due(now time.Duration) (time.Duration, bool) {
	return s.due - now, !s.busy && now < s.due
}

// errOtherWorker: the address belongs to another worker now.
var errOtherWorker = errors.New("another worker answers at this address")

// Attached takes the answer to the handshake.
func (s *Delivery) Attached(now time.Duration, a *cluster.AttachReply) Verdict {
	s.busy = false
	if a.Report.Node != s.name {
		return s.outOfReach(now, true, fmt.Errorf("%w: %s", errOtherWorker, a.Report.Node))
	}
	s.attached, s.down, s.owing = true, false, false
	if a.Incarnation != s.incarnation {
		s.clear() // another process: the replica places again what this one held, and opens a new stream
	}
	if s.line == nil && !s.asks() {
		s.recovered()
	}
	return Verdict{Actions: s.of.Replica.Attached(now, s.index, s.name, a)}
}

// Enqueued takes the answer to placements.
func (s *Delivery) Enqueued(now time.Duration, reply *cluster.EnqueueReply) Verdict {
	s.busy = false
	s.recovered()
	s.limit = min(2*s.limit, s.of.MaxBatch)
	actions := s.of.Replica.Acknowledged(now, s.UnderWay(), reply)
	s.line.drop(s.underWay)
	s.underWay = 0
	if s.line.len() == 0 {
		s.clear()
	}
	return Verdict{Actions: actions}
}

// Failed takes the lack of an answer, or an error for one. What is too large leaves in smaller messages. A
// worker that rejects a whole message has refused every placement in it. Any other failure may be that of
// the connection, so the stream attaches again: what may have arrived is repeated then, and the worker knows
// the numbers that it has.
func (s *Delivery) Failed(now time.Duration, how Failure, err error) Verdict {
	s.busy = false
	if how != Unanswered && s.underWay > 0 {
		s.attempted = s.before
	}
	code := cluster.CodeOf(err)
	rejected := code != 0 && code != cluster.Stale && code != cluster.UnknownScheduler
	switch {
	case how == TooLarge && s.underWay > 1:
		s.limit, s.underWay = s.underWay/2, 0
		return Verdict{Actions: &s.of.idle}
	case (how == TooLarge || rejected) && s.underWay > 0:
		return s.Enqueued(now, refuseAll(s.UnderWay(), err))
	}
	return s.outOfReach(now, how == Refused, err)
}

// outOfReach takes the worker out of the candidates. It is given up when its process is gone, or has not
// answered for the grace; then only the handshake is tried, less and less often.
func (s *Delivery) outOfReach(now time.Duration, gone bool, err error) Verdict {
	s.attached, s.underWay = false, 0
	s.due = now + s.backoff.Next()
	verdict := Verdict{Actions: &s.of.idle}
	if !s.failing {
		s.failing, s.since, verdict.Trouble = true, now, err
	}
	s.of.Replica.Suspect(s.index, s.incarnation)
	if !s.down && (gone || now-s.since >= s.of.Grace) {
		s.down, verdict.GivenUp = true, true
		s.clear()
		verdict.Actions = s.of.Replica.NodeDown(now, s.index, s.incarnation, s.attempted)
	}
	return verdict
}

func (s *Delivery) recovered() {
	s.failing = false
	s.backoff.Reset()
}

// clear forgets what was posted.
func (s *Delivery) clear() {
	if s.line != nil {
		s.line.release(&s.of.spare)
		s.line = nil
	}
}

// refuseAll stands for a worker that rejects a whole message: every placement tries its next candidate.
func refuseAll(batch []Dispatch, err error) *cluster.EnqueueReply {
	var reply cluster.EnqueueReply
	for i := range batch {
		a := &batch[i].Assignment
		reply.Refused = append(reply.Refused, cluster.Refusal{TaskID: a.TaskID, Number: a.Number, Code: cluster.InvalidTask,
			Message: err.Error()})
	}
	return &reply
}
