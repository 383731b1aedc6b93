package worker

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Result is how an execution ended, as its executor saw it.
type Result struct {
	Outcome  cluster.Outcome
	ExitCode int // of the program; -1 where there is none to speak of
	Reason   string
	cluster.Measured
}

// outbox holds the completions that a scheduler has not acknowledged, oldest first. It is bounded,
// and what is in it expires: a scheduler that stays away costs a bounded amount of memory for a
// bounded time.
type outbox struct {
	waiting ring[ended]
	popped  int64 // ever: the position of the oldest one
}

// ended is the completion of one placement: that of its task, or one apart, of a placement that ended before the task did.
type ended struct {
	t *task
	owner
	apart *apart
}

// apart is a completion that is not how the task ended.
type apart struct {
	at         time.Duration
	completion cluster.Completion
}

// at is when it ended.
func (e *ended) at() time.Duration {
	if e.apart != nil {
		return e.apart.at
	}
	return e.t.ended
}

// Notice is a batch of completions on its way to a scheduler.
type Notice struct {
	To      cluster.SchedulerRef
	Message cluster.CompletionNotice
	upTo    int64 // position in the outbox after the batch
}

// Notice returns the oldest completions, at most most of them, that a scheduler has not acknowledged.
// It is false when there are none. They stay until Acknowledged or until they expire.
func (n *Node) Notice(now time.Duration, scheduler string, most int) (notice Notice, ok bool) {
	return notice, n.FillNotice(&notice, now, scheduler, most)
}

// FillNotice is Notice into one that is not in use any more: its completions and its report keep their memory.
func (n *Node) FillNotice(notice *Notice, now time.Duration, scheduler string, most int) bool {
	s := n.streams.find(scheduler)
	if s == nil || s.outbox.waiting.len() == 0 {
		return false
	}
	count := min(most, s.outbox.waiting.len())
	batch := slices.Grow(notice.Message.Completions[:0], count)
	for i := range count {
		batch = append(batch, s.outbox.waiting.at(i).completion())
	}
	*notice = Notice{
		To: s.ref,
		Message: cluster.CompletionNotice{
			Node: n.cfg.Node.Name, NodeIncarnation: n.cfg.Node.Incarnation, SchedulerIncarnation: s.ref.Incarnation,
			Completions: batch, Report: n.rider(now, s, notice.Message.Report),
		},
		upTo: s.outbox.popped + int64(count),
	}
	return true
}

// Acknowledged drops the completions of a notice that its scheduler has taken.
func (n *Node) Acknowledged(notice *Notice) {
	s := n.streams.find(notice.To.Name)
	if s == nil || s.ref.Incarnation != notice.To.Incarnation {
		return
	}
	for s.outbox.popped < notice.upTo {
		n.dropOldest(&s.outbox)
	}
}

func (e *ended) completion() cluster.Completion {
	if e.apart != nil {
		return e.apart.completion
	}
	t := e.t
	c := cluster.Completion{
		TaskID: t.id, Number: e.number, Outcome: t.result.Outcome, ExitCode: t.result.ExitCode, Reason: t.result.Reason,
		Measured: t.result.Measured,
	}
	c.Wait, c.Run = t.intervals()
	if t.started >= 0 && c.Outcome == cluster.Lost {
		c.Run = max(c.Run, leastRun) // it says that it started
	}
	return c
}

// leastRun is the shortest run that the wire can tell from none.
const leastRun = time.Microsecond

// intervals returns how long the ended task waited and ran, whatever the clock did; one that never started only waited.
func (t *task) intervals() (wait, run time.Duration) {
	if t.started < 0 {
		return max(0, t.ended-t.enqueued), 0
	}
	return max(0, t.started-t.enqueued), max(0, t.ended-t.started)
}

// deliver puts a completion that t.pending counts into the outbox of one owner.
func (n *Node) deliver(t *task, o owner, actions *Actions) {
	n.post(ended{t: t, owner: o}, actions)
}

// post puts a completion into the outbox of its owner. Results for a process that a newer one of its name has replaced are
// kept as well, for whoever asks this node about the task.
func (n *Node) post(e ended, actions *Actions) {
	box := &e.stream.outbox
	if e.stream.replaced {
		box = &n.orphans
	} else {
		actions.notify(e.stream.ref.Name)
	}
	n.retain(box, e)
}

// retain keeps a completion. An attached scheduler bounds what it leaves unfinished by itself; what is
// kept for processes that are gone is bounded here, at the price of the oldest.
func (n *Node) retain(box *outbox, e ended) {
	box.waiting.push(e)
	if box == &n.orphans && box.waiting.len() > n.cfg.Limits.RetainResults {
		n.dropOldest(box)
		n.counts.Dropped++
	}
}

// dropOldest forgets one completion, and its task with the last one.
func (n *Node) dropOldest(box *outbox) {
	e := box.waiting.pop()
	box.popped++
	if e.apart != nil {
		return
	}
	e.t.pending--
	e.t.disown(e.owner)
	if e.t.pending == 0 {
		if used := e.t.prog.template; used != nil {
			n.templates.release(used)
		}
		n.held.remove(e.t)
	}
}

// Expire drops completions that nobody fetched for Limits.RetainFor and returns their number. It is
// to be called from time to time.
func (n *Node) Expire(now time.Duration) int {
	dropped := n.expire(now, &n.orphans)
	for _, s := range n.streams {
		dropped += n.expire(now, &s.outbox)
	}
	n.counts.Dropped += int64(dropped)
	return dropped
}

func (n *Node) expire(now time.Duration, box *outbox) (dropped int) {
	for box.waiting.len() > 0 && now-box.waiting.at(0).at() >= n.cfg.Limits.RetainFor {
		n.dropOldest(box)
		dropped++
	}
	return dropped
}
