package scheduler

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// Config holds what one replica needs to know. Times are durations; zero MaxStaleness is off.
type Config struct {
	Name            string
	Incarnation     int64
	Seed            uint64 // of the run: with a task's id it seeds every draw
	DeltaBatch      int    // b_Δ: placements per delta
	MaxStaleness    time.Duration
	StaleAfter      time.Duration // age of a view from which own placements count; 0: four usual distances of pushes
	SelfCorrection  bool          // view = snapshot + own placements it does not contain, even if the policy wants snapshots alone
	MaxAttempts     int           // placements per task before it fails
	ReplaceTimeout  time.Duration // how long a task whose machine was lost waits for a feasible node
	RosterGrace     time.Duration // how long a worker may take to register with a restarted data service
	MaxPending      int           // accepted tasks that have not ended
	RetainResults   int           // ended tasks kept for queries and late collectors
	RetainFor       time.Duration
	RetainJobs      time.Duration // how long a job is kept after its last task ended
	DefaultDuration time.Duration // of a task of which nobody says how long it runs
	Estimates       Estimates
	Foresee         func(seed uint64) float64 // with exact estimates: how many times what was given the task with this seed takes
	Dimensions      cluster.Dimensions
	Types           []cluster.TaskType
	Keeps           bool  // it tells of all that it must not forget: Changes
	Epoch           int64 // nanoseconds since the Unix epoch when its clock began: what it keeps survives that clock
}

func (c *Config) check() error {
	switch {
	case c.Name == "":
		return fmt.Errorf("scheduler: the replica needs a name")
	case c.DeltaBatch < 1:
		return fmt.Errorf("scheduler: b_delta = %d: must be at least 1", c.DeltaBatch)
	case c.MaxAttempts < 1:
		return fmt.Errorf("scheduler: max_attempts = %d: must be at least 1", c.MaxAttempts)
	case c.MaxPending < 1 || c.RetainResults < 1:
		return fmt.Errorf("scheduler: max_pending = %d, retain_results = %d: both must be at least 1", c.MaxPending, c.RetainResults)
	case c.Estimates == Exact && c.Foresee == nil:
		return fmt.Errorf("scheduler: nobody can foresee how long tasks take: exact estimates are for emulated ones")
	}
	return nil
}

// Actions are what a verb wants done (the shell does it after releasing its lock). Its slices belong to
// the replica and are valid until the next verb.
type Actions struct {
	Send     []Dispatch       // in order, each to its node's stream; one without a task id only brings the stream up to date
	Probe    []ProbeCall      // probes to send
	Flush    []*cluster.Delta // deltas for the data service, in order
	Cancel   []CancelCall     // tasks to stop at their worker
	Connect  []int            // nodes that appeared or returned with a new process
	Drop     []int            // nodes that are gone
	Ask      []int            // nodes whose stream is to shake hands again
	Wake     bool             // results became available
	Finished []time.Duration  // makespans of the tasks that finished: submission to known completion
}

// Dispatch is one placement on its way: the assignment, and P at its number.
type Dispatch struct {
	Node            int
	NodeIncarnation int64
	Assignment      cluster.Assignment
	Placed          cluster.Load

	template *template // of the command; nil: there is none
	position int64     // of the change that has to be durable before it leaves
}

// Replica is one scheduler. It is not safe for concurrent use.
type Replica struct {
	cfg        Config
	policy     Policy
	wants      Wants
	catalog    *Catalog
	experience *experience // nil: nothing is learned
	view       *View
	nodes      nodeTable
	tasks      map[string]*task
	listing    cluster.Listing[task] // of them
	spare      cluster.Spare[task]
	batches    cluster.Spare[batch] // of tasks without a command
	latest     *batch               // of commands that belong to no job
	templates  templates
	jobs       jobs
	workers    workerNames
	unplaced   []*task // placed nowhere for now: no node can take them
	results    results
	journal    journal
	actions    Actions

	unplacedSeen  int // changes of the candidates when the waiting tasks were last tried
	unplacedTried time.Duration

	pending    int
	cancelling int   // of them are to be cancelled
	bytes      int   // of their entries
	decisions  int64 // placements made, cumulative
	unflushed  int   // placements since the last flush: c_s of Algorithm 1
	flushedAt  time.Duration
	flushing   bool // some stream may be dirty
	draining   bool

	service  int64         // incarnation of the data service whose snapshots are applied
	restored bool          // workers of open placements are not connected yet
	grace    time.Duration // until when workers missing from the roster stay; 0: no grace
	version  int64
	applied  int64 // own decisions when the newest snapshot arrived
	fresh    freshness
	stats    Statistics
}

// Statistics are the replica's cumulative counts for observers.
type Statistics struct {
	Decisions   int64
	Retries     int64
	Refused     int64                         // tasks
	Refusals    [cluster.NotAllowed + 1]int64 // of them, by code
	Denied      [numDenials]int64             // whole submissions
	Outcomes    [cluster.Lost + 1]int64
	Expired     int64 // results that nobody collected in time
	Pending     int
	Retained    int
	Nodes       int
	Candidates  int
	ViewVersion int64

	SinceSnapshot int64 // own placements since the newest snapshot arrived
	Stale         bool  // the view is too old: own placements count
}

// New returns a replica that knows no node yet.
func New(cfg Config, policy Policy) (*Replica, error) {
	r, err := build(cfg, policy)
	if err != nil {
		return nil, err
	}
	r.begins(keptMeta{lineage: cfg.Incarnation})
	return r, nil
}

func build(cfg Config, policy Policy) (*Replica, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	wants := policy.Wants()
	cfg.SelfCorrection = cfg.SelfCorrection || wants.Loads >= Corrected
	r := &Replica{
		cfg:       cfg,
		policy:    policy,
		wants:     wants,
		catalog:   NewCatalog(cfg.Types, cfg.DefaultDuration),
		view:      newView(cfg.Dimensions.Len(), cfg.Seed, wants),
		nodes:     newNodeTable(),
		tasks:     map[string]*task{},
		listing:   cluster.NewListing(func(t *task) string { return t.spec.ID }),
		results:   newResults(cfg.RetainResults, cfg.RetainFor),
		templates: newTemplates(),
		workers:   newWorkerNames(),
		fresh:     freshness{after: cfg.StaleAfter},
	}
	if r.catalog.learns = cfg.Estimates.learned(); r.catalog.learns {
		r.catalog.usual.Duration = 0
	}
	r.experience = newExperience(&r.cfg, r.catalog, wants)
	r.jobs = newJobs(cfg.RetainJobs, &r.templates)
	r.jobs.journal, r.templates.journal, r.results.journal = &r.journal, &r.journal, &r.journal
	r.results.spilled.on = cfg.Keeps
	return r, nil
}

// begin clears what the last verb wanted.
func (r *Replica) begin() {
	d := &r.actions
	*d = Actions{Send: d.Send[:0], Probe: d.Probe[:0], Cancel: d.Cancel[:0], Connect: d.Connect[:0], Drop: d.Drop[:0], Ask: d.Ask[:0],
		Finished: d.Finished[:0]}
}

// oblivion is how many graces after it left a worker's account is forgotten; the data service keeps its
// own as long.
const oblivion = 20

// View returns the cached view, for policies' tests and observers.
func (r *Replica) View() *View { return r.view }

// Riders reports whether workers shall add their reports to acknowledgements and completion notices.
func (r *Replica) Riders() bool { return r.wants.Loads == Fresh }

// Statistics returns the cumulative counts.
func (r *Replica) Statistics() Statistics {
	s := r.stats
	s.SinceSnapshot, s.Stale = r.decisions-r.applied, r.fresh.stale
	s.Decisions, s.Pending, s.Retained = r.decisions, r.pending, r.results.len()
	s.Nodes, s.Candidates, s.ViewVersion, s.Expired = len(r.nodes.byName), len(r.view.candidates), r.version, r.results.expired
	return s
}

// Draining makes every further submission fail with cluster.Draining.
func (r *Replica) Draining() { r.draining = true }

// Pending returns how many accepted tasks have not ended.
func (r *Replica) Pending() int { return r.pending }

// Uncollected returns how many results no client has acknowledged.
func (r *Replica) Uncollected() int { return r.results.waiting }

// Node returns the registration of node i.
func (r *Replica) Node(i int) cluster.Node { return r.nodes.slots[i].Node }

// ReceivedAt returns when the task of a dispatch was received, while that is its latest placement.
func (r *Replica) ReceivedAt(d *Dispatch) (time.Duration, bool) {
	if t := r.current(d); t != nil {
		return t.received, true
	}
	return 0, false
}

// Status describes every registered node as this replica believes it to be.
func (r *Replica) Status(now time.Duration) cluster.ClusterStatus {
	status := cluster.ClusterStatus{Version: r.version, Decisions: r.view.Decisions}
	for i := range r.nodes.slots {
		if n := &r.nodes.slots[i]; n.present {
			status.Nodes = append(status.Nodes, cluster.NodeStatus{Node: n.Node, Load: r.view.nodes[i].Load, Heard: now - r.view.Fresh})
		}
	}
	return status
}

// TickEvery is how often a shell lets time pass.
const TickEvery = 20 * time.Millisecond

// Tick does what time alone asks for: the staleness bound, unplaced tasks, expired results and jobs.
func (r *Replica) Tick(now time.Duration) *Actions {
	r.begin()
	r.reconnect()
	if r.cfg.MaxStaleness > 0 && r.flushing && now-r.flushedAt >= r.cfg.MaxStaleness {
		r.flush(now)
	}
	if r.grace > 0 && now >= r.grace {
		r.replaceLost(now, r.missUnlisted(now))
	}
	r.askMissed(now)
	r.age(now)
	if ticker, ok := r.policy.(Ticker); ok {
		r.perform(now, ticker.Tick(now, r.view), nil)
	}
	r.nodes.forget(now, oblivion*r.cfg.RosterGrace)
	r.retryUnplaced(now)
	r.results.expire(now)
	r.sweepJobs(now)
	r.retryJobs(now)
	r.jobs.expire(now)
	r.templates.sweep(now)
	return &r.actions
}

// Settle flushes whatever the batch holds.
func (r *Replica) Settle(now time.Duration) *Actions {
	r.begin()
	if r.flushing {
		r.flush(now)
	}
	return &r.actions
}
