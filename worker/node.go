package worker

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Node is one worker.
type Node struct {
	cfg      Config
	programs map[string]*program
	devices  deviceNames

	queue     queue
	ledger    ledger
	held      holding
	templates templates
	users     map[string]string // names that are known, each once
	load      cluster.Load      // of the queued and running tasks
	latencies latencies
	overruns  overruns

	streams   streams
	orphans   outbox // completions for processes that a newer one has replaced
	forgotten int64  // the highest number of a stream that made room
	sequence  int64  // of the last report
	draining  bool
	counts    Counts

	starts   []Start  // memory of the last verb's
	notified []string // likewise
	owners   []owner
}

// Counts are totals since the node started.
type Counts struct {
	Accepted int64
	Refused  int64
	Refusals [cluster.NotAllowed + 1]int64 // of them, by code
	Repeated int64                         // placements of a task that the node held already
	Outcomes [cluster.Lost + 1]int64       // ended executions, by outcome
	Dropped  int64                         // completions that expired or exceeded their bound, unacknowledged
}

// Actions are what the shell has to do after a verb. The lists are valid until the next verb.
type Actions struct {
	Start  []Start  // run these
	Kill   []string // end these executions now, by task id
	Notify []string // schedulers that completions wait for
	Report bool     // usage changed downwards, or a task runs longer than estimated: tell the data service
}

// Start is one execution.
type Start struct {
	TaskID     string
	Type, Mode string
	Executor   string
	Image      string
	Argv       []string // of the type and mode; shared, not to be written
	Shape      cluster.Shape
	Takes      int64 // what an emulated execution takes, where that is not the estimate, milliseconds; 0: the estimate
	TimeScale  float64
	Seed       uint64           // of the task: cluster.HashID of its id
	Timeout    time.Duration    // 0: none
	Command    *cluster.Command // runs instead of Argv, with its template; nil: the type says what runs
	Attempt    int              // 1 is the first
	User       string           // submitted it; empty: nobody in particular
	Devices    []Assigned       // of every extra that has some on this node; shared, not to be written
}

// Given is how long an emulated execution takes, apart from noise, in milliseconds.
func (s *Start) Given() int64 { return given(s.Takes, s.Shape.Duration) }

func given(takes, estimate int64) int64 {
	if takes > 0 {
		return takes
	}
	return estimate
}

func (s *Actions) notify(scheduler string) {
	if !slices.Contains(s.Notify, scheduler) {
		s.Notify = append(s.Notify, scheduler)
	}
}

// New returns an empty node. It fails when the configuration makes no sense.
func New(cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	programs, err := cfg.programs()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return assemble(cfg, programs)
}

// Sibling returns an empty node that differs from n in nothing but its name, class and capacity. It shares
// n's catalogue of task types, which would be the largest part of a cluster in one process.
func (n *Node) Sibling(node cluster.Node) (*Node, error) {
	cfg := n.cfg
	cfg.Node = node
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return assemble(cfg, n.programs)
}

func assemble(cfg Config, programs map[string]*program) (*Node, error) {
	devices, err := cfg.deviceNames()
	if err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return &Node{
		cfg: cfg, programs: programs, devices: devices,
		ledger: ledger{capacity: cfg.Node.Capacity, slots: cfg.Node.Slots, devices: cluster.NewDevices(&cfg.Node.Capacity)},
		held:   newHolding(), users: map[string]string{}, templates: templates{known: map[string]*template{}},
		overruns: newOverruns(cfg.Reestimate),
	}, nil
}

// begin returns no actions yet, in the memory of the last ones.
func (n *Node) begin() Actions { return Actions{Start: n.starts[:0], Notify: n.notified[:0]} }

// done hands the actions out.
func (n *Node) done(actions *Actions) Actions {
	n.starts, n.notified = actions.Start, actions.Notify
	return *actions
}

// admit starts tasks from the head of the line for as long as the head fits; it never looks behind
// it.
func (n *Node) admit(now time.Duration, actions *Actions) {
	for t := n.queue.head(); t != nil && n.ledger.admits(&t.shape.Demand); t = n.queue.head() {
		n.queue.pop(now)
		t.devices = n.ledger.reserve(&t.shape.Demand)
		t.phase, t.started = cluster.Running, now
		n.overruns.begin(t)
		actions.Start = append(actions.Start, n.start(t))
	}
}

func (n *Node) start(t *task) Start {
	s := Start{
		TaskID: t.id, Type: t.prog.name, Mode: t.mode, Executor: t.prog.executor, Image: t.prog.image, Argv: t.prog.argvOf(t.mode),
		Shape: t.shape, Takes: t.takes, TimeScale: t.scale, Seed: cluster.HashID(t.id), Command: t.command, Attempt: t.attempt,
		User: t.user, Devices: n.devices.assigned(t.devices),
	}
	s.Timeout = n.timeout(t)
	return s
}

// timeout returns how long t may run; 0 is for ever. What it was given counts, where that is not the estimate: what was learned
// from short runs must not end long ones. An estimate of nothing says nothing. A command's estimate may be a
// guess that nobody made for it, so that its own time limit alone ends it.
func (n *Node) timeout(t *task) time.Duration {
	if t.command != nil {
		return time.Duration(float64(t.command.Template.TimeLimit) / t.scale)
	}
	if t.guessed {
		return 0
	}
	limit := n.cfg.Limits.TimeoutFactor * float64(given(t.takes, t.shape.Duration)) * float64(time.Millisecond) / t.scale
	if limit <= 0 || limit >= math.MaxInt64 {
		return 0
	}
	return max(time.Duration(limit), 1)
}

// Finished takes the end of an execution: its reservation is released, and as many heads as fit are
// admitted. An execution that the node no longer runs (it was abandoned) is ignored.
func (n *Node) Finished(now time.Duration, taskID string, r Result) Actions {
	actions := n.begin()
	t := n.held.byID[taskID]
	if t == nil || t.phase != cluster.Running {
		return actions
	}
	if r.Outcome == cluster.NoOutcome || r.Outcome > cluster.Lost {
		r.Outcome, r.Reason = cluster.Failed, "the executor reported no outcome: "+r.Reason
	}
	n.end(now, t, r, &actions)
	n.admit(now, &actions)
	if r.Outcome == cluster.Finished || r.Outcome == cluster.Failed || r.Outcome == cluster.TimedOut {
		n.latencies.add(t.rif, max(0, t.ended-t.enqueued))
	}
	return n.done(&actions)
}

// end brings a held task to its terminal state and takes it off the load.
func (n *Node) end(now time.Duration, t *task, r Result, actions *Actions) {
	started := t.phase == cluster.Running
	t.phase, t.ended, t.result = cluster.Ended, now, r
	if started {
		n.ledger.release(&t.shape.Demand, t.devices)
		t.devices = nil
		n.overruns.end(t)
	} else {
		n.queue.remove(now, t)
	}
	n.load = n.load.Sub(cluster.LoadOf(t.shape))
	n.counts.Outcomes[r.Outcome]++
	actions.Report = true
	t.pending = len(t.owners)
	n.owners = append(n.owners[:0], t.owners...) // delivering may remove one
	for _, o := range n.owners {
		o.stream.active--
		n.deliver(t, o, actions)
	}
}

// Drain makes the node refuse new placements, or take them again. What it holds goes on.
func (n *Node) Drain(draining bool) Actions {
	changed := n.draining != draining
	n.draining = draining
	return Actions{Report: changed}
}

// AbandonQueued gives up every waiting task, so that its scheduler places it elsewhere, and takes no
// new ones. It returns how many there were.
func (n *Node) AbandonQueued(now time.Duration, reason string) (Actions, int) {
	return n.abandon(now, reason, cluster.Queued)
}

// Abandon gives up every waiting and running task, and takes no new ones. It returns how many there
// were; Actions.Kill names those that ran.
func (n *Node) Abandon(now time.Duration, reason string) (Actions, int) {
	return n.abandon(now, reason, cluster.Running)
}

// abandon gives up the tasks that got no further than a phase.
func (n *Node) abandon(now time.Duration, reason string, furthest cluster.Phase) (Actions, int) {
	actions := n.Drain(true)
	var given []*task
	for t := n.held.oldest; t != nil; t = t.newer {
		if t.phase <= furthest {
			given = append(given, t)
		}
	}
	for _, t := range given {
		if t.phase == cluster.Running {
			actions.Kill = append(actions.Kill, t.id)
		}
		n.end(now, t, Result{Outcome: cluster.Lost, ExitCode: -1, Reason: reason}, &actions)
	}
	return actions, len(given)
}
