package cluster

import (
	"math"
	"time"
)

// ShortestDuration and LongestDuration bound the durations that somebody may set.
const (
	ShortestDuration = time.Millisecond
	LongestDuration  = 365 * 24 * time.Hour
)

// MaxDuration bounds an estimated duration on arrival: LongestDuration, in milliseconds.
const MaxDuration = int64(LongestDuration / time.Millisecond)

// MaxTimeScale bounds how many trace seconds an emulated task may pass in one.
const MaxTimeScale = 1e6

// ClassID is a dense index of node classes, private to one process.
type ClassID int32

// Shape is what one task needs on one node class.
type Shape struct {
	Demand   Resources
	Duration int64 // estimate, milliseconds
}

// TaskSpec is a task as its submitter describes it. Nil fields are left to the type's profile.
type TaskSpec struct {
	ID          string
	Type, Mode  string
	Demand      *Resources
	Duration    *int64 // milliseconds
	LearnCores  bool   // experience decides how many it needs
	LearnMemory bool
	AtMostOnce  bool
	TimeScale   float64  // >= 1; 1 is real time
	Command     *Command // runs instead of what the type says; nil: the type's
	User        string   // submits it: who the scheduler is called by, never what a message says; empty: nobody in particular
}

// Task is a task as a scheduler places it: its shape on every node class resolved.
type Task struct {
	ID      string
	Seed    uint64  // hash of ID: every draw for this task comes from (run seed, Seed)
	*Kind           // shared with the tasks that are alike
	Attempt int32   // 0 for the first placement
	Reckon  float32 // milliseconds that it was expected to take where it was placed last, where that may have changed since
	Tried   *Tried  // nodes that refused or lost it: no longer candidates
}

// Kind is what a task needs. Tasks that are alike share one. While one of them lives nothing of it changes but what
// Learned says, so whoever accounts for a placement does it with the shape of that moment, and keeps what is needed later.
type Kind struct {
	Type, Mode string
	Uniform    Shape // the tasks' own figures, where no profile speaks
	HasUniform bool
	Says       bool     // the submission says how long they run
	Learned    *Learned // what is expected instead of what was given; nil: what was given
	PerClass   []Offer  // by ClassID: the profile of type and mode; shared, never written
	AtMostOnce bool
	TimeScale  float64
	Barred     *NodeSet // nodes that may not run them; nil: none
}

// Offer is a profile's entry for one node class; Known is false where the profile has none.
type Offer struct {
	Shape Shape
	Known bool
}

// ShapeOn returns what a task needs on a node of class c: the profile's figures where it has them, else
// the task's own. It is false when neither exists, so the class cannot run the task.
func (k *Kind) ShapeOn(c ClassID) (Shape, bool) {
	demand, ok := k.DemandOn(c)
	return Shape{Demand: *demand, Duration: k.DurationOn(c)}, ok
}

// DemandOn is the demand of ShapeOn, not to be changed.
func (k *Kind) DemandOn(c ClassID) (*Resources, bool) {
	if int(c) < len(k.PerClass) && k.PerClass[c].Known {
		return &k.PerClass[c].Shape.Demand, true
	}
	return &k.Uniform.Demand, k.HasUniform
}

// DurationOn is the duration of ShapeOn.
func (k *Kind) DurationOn(c ClassID) int64 {
	given, says := k.Uniform.Duration, k.Says
	if int(c) < len(k.PerClass) && k.PerClass[c].Known {
		given, says = k.PerClass[c].Shape.Duration, false
	}
	if k.Learned == nil {
		return given
	}
	return k.Learned.expected(c, given, says)
}

// TakesOn returns what an emulated execution on a node of class c is told to take beside its estimate, in milliseconds: what
// its profile or its submission says. 0: nothing, as that is the estimate, or nobody says anything. No time is told as the least.
func (k *Kind) TakesOn(c ClassID, estimate int64) int64 {
	given, says := k.givenOn(c)
	switch {
	case given == estimate:
		return 0
	case says:
		return max(given, 1)
	}
	return given
}

// GuessedOn reports whether nobody says how long a task runs on a node of class c.
func (k *Kind) GuessedOn(c ClassID) bool {
	given, says := k.givenOn(c)
	return given == 0 && !says
}

// givenOn returns how long a task runs on a node of class c as its profile or its submission says, and whether one of them does
// for sure.
func (k *Kind) givenOn(c ClassID) (given int64, says bool) {
	if int(c) < len(k.PerClass) && k.PerClass[c].Known {
		return k.PerClass[c].Shape.Duration, true
	}
	return k.Uniform.Duration, k.Says
}

// Learned is how long tasks of a kind are expected to run whatever was given for them. Who learns writes it in place.
type Learned struct {
	Durations []int64 // by ClassID, milliseconds; 0: what was given holds, if anything was
	Otherwise int64   // where nothing was given
	Overrides bool    // also what a submission says
	Factor    float64 // what was given is multiplied by it; 0: it is not
}

// expected returns the duration to reckon with on a class where one was given, perhaps by the submission itself.
func (l *Learned) expected(c ClassID, given int64, says bool) int64 {
	switch {
	case l.Factor > 0:
		return int64(math.Round(min(float64(given)*l.Factor, float64(MaxDuration))))
	case says && !l.Overrides:
		return given
	case int(c) < len(l.Durations) && l.Durations[c] > 0:
		return l.Durations[c]
	case given > 0 && !l.Overrides:
		return given
	}
	return l.Otherwise
}

// Tried is a list of nodes, the latest first. Most tasks have none.
type Tried struct {
	Node    int32
	Earlier *Tried
}

// Has reports whether node i is in the list.
func (t *Tried) Has(i int) bool {
	for ; t != nil; t = t.Earlier {
		if int(t.Node) == i {
			return true
		}
	}
	return false
}

// HashID hashes a task id (FNV-1a, 64 bits) without allocating.
func HashID(id string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(id); i++ {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	return h
}

// Outcome is a task's terminal state.
type Outcome uint8

const (
	NoOutcome Outcome = iota
	Finished
	Failed
	TimedOut
	Cancelled
	Lost
)

var outcomeNames = [...]string{"", "finished", "failed", "timed-out", "cancelled", "lost"}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "unknown"
}

// ParseOutcome is the inverse of String.
func ParseOutcome(s string) (Outcome, bool) {
	for i, n := range outcomeNames {
		if n == s && i > 0 {
			return Outcome(i), true
		}
	}
	return NoOutcome, false
}

// Phase is where a live task stands.
type Phase uint8

const (
	Placing  Phase = iota + 1 // no node yet: waiting for probes or for a feasible node
	Sent                      // on its way to a worker
	Accepted                  // acknowledged by a worker
	Queued                    // at a worker, behind the head of the line
	Running
	Ended
)

var phaseNames = [...]string{"", "placing", "sent", "accepted", "queued", "running", "ended"}

func (p Phase) String() string {
	if int(p) < len(phaseNames) {
		return phaseNames[p]
	}
	return "unknown"
}

// TaskStatus answers a task query. Record is set when Phase is Ended.
type TaskStatus struct {
	ID, Type, Mode  string
	Phase           Phase
	Node, Scheduler string
	Job             string // empty: none
	Index           int64  // in the job
	Ahead           int64  // of a worker, Queued: tasks before it in the line
	Attempt         int    // 1 is the first; 0: none yet, or nobody says
	User            string // submitted it; empty: nobody in particular
	Record          *TaskRecord
}

// Size is about how many bytes of a message it takes.
func (s *TaskStatus) Size() int {
	n := 60 + len(s.ID) + len(s.Type) + len(s.Mode) + len(s.Node) + len(s.Scheduler) + len(s.Job) + len(s.User)
	if r := s.Record; r != nil {
		n += 200 + len(r.ID) + len(r.Type) + len(r.Mode) + len(r.Scheduler) + len(r.Worker) + len(r.Class) + len(r.Reason) + len(r.Output)
	}
	return n
}

// TaskRecord is the full account of an ended task. Every interval is exact on the one clock that
// measured it.
type TaskRecord struct {
	ID, Type, Mode    string
	Scheduler, Worker string
	Class             string
	Demand            Resources
	Estimate          int64         // milliseconds
	Received          time.Duration // scheduler receives, since the Unix epoch on the wire, since start inside a replica
	Scheduling        time.Duration // received -> worker acknowledged
	Wait              time.Duration // enqueued -> started
	Run               time.Duration // started -> finished
	Makespan          time.Duration // received -> completion known at the scheduler
	Attempts          int
	Outcome           Outcome
	ExitCode          int
	Reason            string
	Measured
	ViewDecisions int64  // cluster-wide decisions that the deciding view included
	User          string // submitted it; empty: nobody in particular
}
