package worker

import (
	"time"

	"dodoor/internal/cluster"
)

// Notifier carries a node's completions to one scheduler: one notice at a time, oldest first, repeated until
// the scheduler has taken it or its results expire.
//
// Its shell calls Post when Actions.Notify names the scheduler, Answered or Failed when a notice has come back,
// and after each of them Next, which says what follows.
type Notifier struct {
	node      *Node
	scheduler string
	most      int // completions per notice

	busy    bool          // a notice is under way
	due     bool          // another one is to follow
	after   time.Duration // but not earlier: a scheduler that could not take one gets a pause
	backoff cluster.Backoff
	used    time.Duration // last
}

// Linger is how long a notifier without work is kept: schedulers come and go, and each costs a connection.
const Linger = time.Minute

// NewNotifier returns what carries completions to a scheduler, at most most of them (1: no coalescing) in one
// notice.
func NewNotifier(node *Node, scheduler string, most int) Notifier {
	return Notifier{node: node, scheduler: scheduler, most: most}
}

// Post says that something has ended for the scheduler, or that it is to be told again what it did not take.
func (n *Notifier) Post() { n.due = true }

// Next fills notice when one is to be sent now. Otherwise wake is when Next is to be called again, or 0: not
// before another verb. A notice is filled by the very verb that posts its completions, unless one is under
// way: the report that rides on it then precedes the verb's own report to the data service, and a scheduler
// does not take that for older than what it has.
func (n *Notifier) Next(now time.Duration, notice *Notice) (send bool, wake time.Duration) {
	switch {
	case n.busy || !n.due:
		return false, 0
	case now < n.after:
		return false, n.after
	}
	n.due, n.used = false, now
	n.busy = n.node.FillNotice(notice, now, n.scheduler, n.most)
	if !n.busy {
		n.backoff.Reset()
	}
	return n.busy, 0
}

// Answered takes the scheduler's answer to a notice; 0: the notice was taken. A scheduler that restarted does
// not know the tasks: their results wait until it attaches or they expire, and what ended meanwhile may be for
// the new process.
func (n *Notifier) Answered(now time.Duration, notice *Notice, code cluster.ErrorCode) {
	switch code {
	case 0:
		n.node.Acknowledged(notice)
		n.due = true
	case cluster.Stale:
	default:
		n.Failed(now)
		return
	}
	n.busy, n.used = false, now
	n.backoff.Reset()
}

// Failed says that nobody answered a notice. Whether it arrived does not matter: it is repeated, and the
// scheduler tells a repeated completion by its placement's number.
func (n *Notifier) Failed(now time.Duration) {
	n.busy, n.due, n.after = false, true, now+n.backoff.Next()
}

// Idle reports whether nothing is under way and nothing is to follow.
func (n *Notifier) Idle() bool { return !n.busy && !n.due }

// Retired reports whether the notifier has been idle for so long that its connection is better closed. It
// may be dropped then; the next completion starts another one.
func (n *Notifier) Retired(now time.Duration) bool { return n.Idle() && now-n.used >= Linger }
