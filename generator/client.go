package generator

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
)

// ClientConfig is how a client submits.
type ClientConfig struct {
	Schedulers  []cluster.SchedulerRef // to begin with; where they are followed, each at an address of its own
	Tasks       int                    // room for so many; more may be expected
	Skew        float64                // share of the first submissions that prefer the first scheduler; 0: in turn
	Connections int                    // messages under way per scheduler; 0: any number
	MaxBatch    int                    // tasks in one message; at least 1
	PollPause   time.Duration          // between two polls of a scheduler: [PollPause], or none
	Seed        uint64                 // of the jitter with which it comes back to a scheduler that takes nothing

	Patience     time.Duration // how long no scheduler at all may take tasks [10 s]
	DrainTimeout time.Duration // wait for results after Stop [30 s]
	Timeout      time.Duration // wait for results after the last task was submitted [no limit]
	// Brief gives up a task that must not run twice, was not accepted, and that a scheduler may have which keeps it and is silent a minute.
	Brief bool
}

const (
	defaultPatience     = 10 * time.Second
	defaultDrainTimeout = 30 * time.Second
)

// state is where a task stands, as far as the client knows.
type state uint8

const (
	idle     state = iota // not due yet
	queued                // due, waits for a connection or for a scheduler
	sending               // in a message
	held                  // at most once, and its scheduler may have it: waits until that one can be asked again
	accepted              // its scheduler owes a result
	ended
)

// clientTask is a task on its way from the client's side.
type clientTask struct {
	id          string
	sent        time.Duration // first handed to a connection; Never before
	scheduler   int32         // in whose line it waits, or who holds it; nobody: none takes tasks
	submissions int32         // that may have been taken
	state       state
	alone       bool // a message with it and others failed over one of them
	whole       bool // its scheduler does not know its template
	doubted     bool // some scheduler may hold it that did not say so, or is not asked any more
	once        bool // must not run twice
}

// bound tells whether a task may go to its scheduler alone, until that says whether it has it.
func (t *clientTask) bound() bool { return t.once && t.doubted }

const nobody = -1

// attempt is a submission whose fate is unknown: that scheduler may hold the task.
type attempt struct{ task, scheduler int32 }

// Client brings tasks to schedulers and fetches their results: whom to ask first, who is left alone
// for a while, who is gone and who takes over, when a task counts as refused or lost. Every task that is
// expected ends exactly once. A Client is not safe for concurrent use.
type Client struct {
	cfg        ClientConfig
	tasks      []clientTask
	schedulers []replica        // whoever was registered once, each at its index for good
	members    []int32          // of them, who still is
	byID       map[string]int32 // sent and not ended
	doubtful   map[attempt]bool
	unassigned []int32 // due, and no scheduler takes them
	spare      cluster.Spare[Message]
	rng        *rand.Rand

	unsubmitted int  // tasks that are idle
	open        int  // tasks that have not ended
	risky       bool // some task must not run twice

	away      int           // schedulers that do not answer, are draining or have left
	noneSince time.Duration // since when all are; Never: some are not
	deadline  time.Duration // no result is waited for any longer; Never: as long as it takes
	verdict   string        // why what has not ended by then is abandoned

	now     time.Duration // of the verb at work
	stale   []int32       // schedulers whose line or connections changed during it
	actions Actions
}

// Actions are what a verb wants done. Its slices belong to the client and are valid until the next verb,
// and so are the records.
type Actions struct {
	Join  []Member      // to connect to, before anything goes there
	Send  []*Message    // to post at once; each belongs to the carrier until Accepted or Failed
	Poll  []Poll        // to put, each at its time; one per scheduler at a time
	Cut   []int         // schedulers that do not answer: what is under way there fails, as Unanswered
	Drop  []int         // schedulers that left: nothing is outstanding there, so acknowledge and hang up
	Ended []Ending      // in the order in which they ended
	News  []News        // for the log
	Wake  time.Duration // when to call Tick, at the latest; Never: nothing is due
}

// Message is a submission on its way to a scheduler.
type Message struct {
	Scheduler   int
	Tasks       []int32
	Incarnation int64 // of the scheduler's memory that may take it; 0: any may
	Whole       bool  // templates travel along, whatever the scheduler is thought to have
	repeated    bool  // it failed once, and may have arrived
	losses      int   // of the scheduler when it was posted
}

// NewClient returns a client that expects no tasks yet.
func NewClient(cfg ClientConfig) *Client {
	cfg.Patience = cmp.Or(cfg.Patience, defaultPatience)
	cfg.DrainTimeout = cmp.Or(cfg.DrainTimeout, defaultDrainTimeout)
	c := &Client{cfg: cfg, byID: map[string]int32{}, doubtful: map[attempt]bool{}, noneSince: Never, deadline: Never,
		tasks: make([]clientTask, 0, cfg.Tasks), rng: rand.New(rand.NewPCG(cfg.Seed, jitterStream))}
	for _, ref := range cfg.Schedulers {
		c.admit(ref)
	}
	return c
}

// Expect announces a task, and returns its number: 0, 1, 2 ... Ids are unique. One that may run at most once is never with two
// schedulers, and is lost rather than submitted again where it may have run.
func (c *Client) Expect(id string, atMostOnce bool) int32 {
	c.tasks = append(c.tasks, clientTask{id: id, sent: Never, scheduler: nobody, once: atMostOnce})
	c.risky = c.risky || atMostOnce
	c.unsubmitted++
	c.open++
	return int32(len(c.tasks) - 1)
}

// Open returns how many tasks have not ended.
func (c *Client) Open() int { return c.open }

// Underway returns how many tasks were sent and have not ended.
func (c *Client) Underway() int { return len(c.byID) }

// Owed returns how many tasks were accepted and have not ended.
func (c *Client) Owed() (tasks int) {
	for i := range c.schedulers {
		tasks += c.schedulers[i].owes
	}
	return tasks
}

// Posted returns how many messages are under way.
func (c *Client) Posted() (messages int) {
	for i := range c.schedulers {
		messages += c.schedulers[i].messages
	}
	return messages
}

// Sent returns when a task was first handed to a connection; Never: not yet.
func (c *Client) Sent(i int32) time.Duration { return c.tasks[i].sent }

// Start asks every scheduler which process it is.
func (c *Client) Start(now time.Duration) *Actions {
	c.begin(now)
	for i := range c.schedulers {
		c.poll(&c.schedulers[i], now)
	}
	return c.finish()
}

// Submit brings tasks that are due to their schedulers. Those that ended before their time stay so.
func (c *Client) Submit(now time.Duration, tasks ...int32) *Actions {
	c.begin(now)
	before := c.unsubmitted
	for _, i := range tasks {
		if c.tasks[i].state == idle {
			c.unsubmitted--
			c.dispatch(i, c.preferred(i))
		}
	}
	if before > 0 && c.unsubmitted == 0 && c.cfg.Timeout > 0 {
		c.deadline = now + c.cfg.Timeout
		c.verdict = fmt.Sprintf("abandoned: no result within %v after the last submission", c.cfg.Timeout)
	}
	return c.finish()
}

// Tick lets time pass.
func (c *Client) Tick(now time.Duration) *Actions {
	c.begin(now)
	return c.finish()
}

// Stop ends what was never sent; what was is waited for until DrainTimeout.
func (c *Client) Stop(now time.Duration) *Actions {
	c.begin(now)
	for i := range c.tasks {
		if c.tasks[i].sent == Never {
			c.end(int32(i), NotSubmitted, "not submitted: the run was stopped", nil)
		}
	}
	c.deadline = now + c.cfg.DrainTimeout
	c.verdict = fmt.Sprintf("abandoned: no result within %v after the run was stopped", c.cfg.DrainTimeout)
	return c.finish()
}

// Abandon ends everything: no result is waited for any more.
func (c *Client) Abandon(now time.Duration, reason string) *Actions {
	c.begin(now)
	c.deadline, c.verdict = now, reason
	return c.finish()
}

func (c *Client) begin(now time.Duration) {
	c.now = now
	r := &c.actions
	r.Join, r.Send, r.Poll, r.Cut, r.Drop, r.Ended, r.News, r.Wake =
		r.Join[:0], r.Send[:0], r.Poll[:0], r.Cut[:0], r.Drop[:0], r.Ended[:0], r.News[:0], Never
}

// finish draws the consequences of a verb: what waits for nothing any more is sent or given up.
func (c *Client) finish() *Actions {
	c.giveUpSilent()
	c.adopt()
	c.checkPatience()
	if c.deadline != Never && c.now >= c.deadline {
		c.deadline = Never
		for i := range c.tasks {
			c.end(int32(i), Abandoned, c.verdict, nil)
		}
	}
	for _, i := range c.stale {
		p := &c.schedulers[i]
		p.stale = false
		c.post(p)
	}
	c.stale = c.stale[:0]
	c.wake()
	return &c.actions
}

// checkPatience gives up what no scheduler takes, once none has for too long. What a draining
// scheduler accepted is waited for: it still answers. (What a dead one accepted is queued again.)
func (c *Client) checkPatience() {
	if c.away < len(c.schedulers) {
		c.noneSince = Never
		return
	}
	if c.noneSince == Never {
		c.noneSince = c.now
	}
	if c.now-c.noneSince < c.cfg.Patience || c.unsubmitted == 0 && len(c.unassigned) == 0 {
		return
	}
	reason := fmt.Sprintf("no scheduler is registered, for %v", c.cfg.Patience)
	if len(c.members) > 0 {
		reason = fmt.Sprintf("no scheduler took tasks for %v (%v)", c.cfg.Patience, c.schedulers[c.members[0]].trouble)
	}
	for i := range c.tasks {
		t := &c.tasks[i]
		if t.state == idle || t.state == queued && !t.bound() && !c.kept(int32(i)) {
			c.end(int32(i), NoScheduler, reason, nil)
		}
	}
	c.unassigned = c.unassigned[:0]
}

// wake finds out when something is due that no message announces.
func (c *Client) wake() {
	at := c.deadline
	if len(c.unassigned) > 0 || c.risky {
		for i := range c.schedulers {
			p := &c.schedulers[i]
			if waits := len(c.unassigned) > 0 && !p.left || len(p.held) > 0; waits && !p.down && p.restUntil > c.now {
				at = earlier(at, p.restUntil)
			}
		}
	}
	if c.away > 0 {
		for i := range c.schedulers {
			at = earlier(at, c.schedulers[i].wake(c))
		}
	}
	if c.noneSince != Never && (c.unsubmitted > 0 || len(c.unassigned) > 0) {
		at = earlier(at, c.noneSince+c.cfg.Patience)
	}
	c.actions.Wake = at
}

// earlier is the first of two moments, either of which may be Never.
func earlier(a, b time.Duration) time.Duration {
	if a == Never || b != Never && b < a {
		return b
	}
	return a
}
