package generator

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// PollPause is what a client lets pass between two polls of a scheduler, so that records gather.
const PollPause = 20 * time.Millisecond

// AnswerWithin is how long a scheduler that lives takes to answer a poll, beyond what it may wait. Two polls that it does not
// answer take less than a second: then it counts as gone, and what is under way there is cut off.
const AnswerWithin = 300 * time.Millisecond

const (
	pollWait   = 200 * time.Millisecond // the scheduler holds a poll so long when nothing ended: who is silent longer is in trouble
	pollMax    = 1024                   // records in one reply
	secondTry  = 50 * time.Millisecond  // after the first poll that failed: it may be an accident
	retryPause = 200 * time.Millisecond // after further ones
)

// Poll asks a scheduler for results, and with them whether it still is the same process.
type Poll struct {
	Scheduler int
	At        time.Duration // not before
	Cursor
	Max  int
	Wait time.Duration
}

// Cursor stands behind the last record that a client has of a scheduler's process.
type Cursor struct {
	After, Incarnation int64 // 0: none yet
}

// News is what a client found out about a scheduler.
type News struct {
	Scheduler string
	Address   string
	What      Change
	Err       error
}

// Change is what happened to a scheduler, in the words of a log.
type Change string

const (
	Silent     Change = "a scheduler does not answer: its tasks go to another"
	Waited     Change = "a scheduler does not answer: it keeps what it accepted, and further tasks go to another"
	Back       Change = "a scheduler answers again"
	Restarted  Change = "a scheduler restarted: its tasks are submitted again"
	Unreadable Change = "results cannot be fetched"
	Joined     Change = "a scheduler joined: it gets its share of the tasks"
	Left       Change = "a scheduler left: it gets no more tasks"
)

func (c *Client) report(p *replica, what Change, err error) {
	c.actions.News = append(c.actions.News, News{p.ref.Name, p.ref.Address, what, err})
}

// poll plans the next poll of a scheduler; one that left is dropped instead, once nothing is outstanding there.
func (c *Client) poll(p *replica, at time.Duration) {
	if p.left && p.messages == 0 && p.owes == 0 && !c.asks(p) {
		p.dropped = true
		c.actions.Drop = append(c.actions.Drop, int(p.index))
		return
	}
	next := Poll{Scheduler: int(p.index), At: at, Cursor: p.cursor, Max: pollMax, Wait: pollWait}
	if p.failures > 0 || p.cursor.Incarnation == 0 {
		next.Wait = 0 // is it back? And first of all: which process is it?
	}
	c.actions.Poll = append(c.actions.Poll, next)
}

// Collected takes the answer to a poll. A scheduler whose memory is another one has forgotten what it accepted, so
// those tasks are submitted again, unless they must not run twice; it says so itself if it holds one after all. A task may
// have two records, after its scheduler was thought dead; the first one counts.
func (c *Client) Collected(now time.Duration, scheduler int, reply *cluster.CollectReply) *Actions {
	c.begin(now)
	p := &c.schedulers[scheduler]
	for j := range reply.Records {
		if i, ok := c.byID[reply.Records[j].ID]; ok {
			c.end(i, Collected, "", &reply.Records[j])
		}
	}
	switch {
	case reply.Incarnation == p.cursor.Incarnation:
	case p.cursor.Incarnation != 0:
		c.report(p, Restarted, nil)
		c.bury(p, fmt.Sprintf("scheduler %s had it, and has restarted", p.ref.Name))
		c.redispatch(p, true)
	case p.failures > 0: // the process that did not answer the first poll may have taken tasks
		c.redispatch(p, true)
	}
	p.keeps, p.replaced = reply.Keeps, false
	if p.down {
		c.recovered(p)
	}
	p.failures, p.cursor = 0, Cursor{reply.Cursor, reply.Incarnation}
	c.poll(p, now+c.cfg.PollPause)
	return c.finish()
}

// PollFailed takes note that a poll was not answered, or with an error. That nobody listens is final, and
// anything else gets a second chance.
func (c *Client) PollFailed(now time.Duration, scheduler int, f Failure, err error) *Actions {
	c.begin(now)
	p := &c.schedulers[scheduler]
	p.failures++
	pause := retryPause
	if p.failures == 1 {
		pause = secondTry
	}
	switch f {
	case Gone:
		c.lose(p, f, err)
	case NotSent, Unanswered:
		if p.failures > 1 {
			c.lose(p, f, err)
		}
	default:
		c.report(p, Unreadable, err)
	}
	c.poll(p, now+pause)
	return c.finish()
}

// Acknowledge returns the question that lets a scheduler forget the last records; false: there is nothing
// to say, or nobody to say it to.
func (c *Client) Acknowledge(scheduler int) (Poll, bool) {
	p := &c.schedulers[scheduler]
	return Poll{Scheduler: scheduler, Cursor: p.cursor, Max: 1}, p.cursor.After > 0 && !p.down
}

// Cause is how a task ended.
type Cause uint8

const (
	Collected    Cause = iota // with a record of its scheduler
	Refused                   // a scheduler does not take it
	NotSubmitted              // the client was stopped before
	NoScheduler               // no scheduler took it
	Abandoned                 // its result is not waited for any more
	Vanished                  // it may have run where nobody remembers or says so, and must not run twice
)

// outcomes are those of tasks without a record.
var outcomes = [...]cluster.Outcome{Refused: cluster.Failed, NotSubmitted: cluster.Cancelled,
	NoScheduler: cluster.Lost, Abandoned: cluster.Lost, Vanished: cluster.Lost}

// Ending is what became of a task.
type Ending struct {
	Task      int32
	Cause     Cause
	Record    *cluster.TaskRecord // of Collected
	Reason    string              // of the others
	Scheduler string              // in whose line or hands it was last; empty: nobody's
	Sent      time.Duration       // first; Never: not at all
	Taken     int                 // schedulers that may have taken it, counting one that restarted twice
}

// Row is the account of a task of w. start is when the run began, on the clock of the record.
func (e *Ending) Row(w *Workload, start time.Duration) Row {
	row := w.NewRow(int(e.Task))
	row.Sent = e.Sent
	if e.Record != nil {
		row.Fill(e.Record, start, e.Taken)
		return row
	}
	row.Outcome, row.Reason, row.Scheduler, row.Attempts = outcomes[e.Cause], e.Reason, e.Scheduler, e.Taken
	return row
}

// end is the only place where a task ends, once.
func (c *Client) end(i int32, why Cause, reason string, record *cluster.TaskRecord) {
	t := &c.tasks[i]
	if t.state == ended {
		return
	}
	e := Ending{Task: i, Cause: why, Reason: reason, Record: record, Sent: t.sent, Taken: int(t.submissions)}
	if t.scheduler != nobody {
		e.Scheduler = c.schedulers[t.scheduler].ref.Name
	}
	c.actions.Ended = append(c.actions.Ended, e)
	if t.state == idle {
		c.unsubmitted--
	}
	c.forgive(t)
	t.state = ended
	c.open--
	delete(c.byID, t.id)
	if t.doubted {
		for s := range c.schedulers {
			delete(c.doubtful, attempt{i, int32(s)})
		}
	}
}
