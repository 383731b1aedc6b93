package cluster

import (
	"strings"
	"time"
)

// Node is a worker as it registers itself.
type Node struct {
	Name, Address string
	Class         string
	Capacity      Resources
	Slots         int   // concurrent tasks
	Incarnation   int64 // larger after every restart
	Draining      bool  // takes no new placements
}

// SchedulerRef names one incarnation of a scheduler replica and where it listens.
type SchedulerRef struct {
	Name, Address string
	Incarnation   int64
	Riders        bool // wants a report on every acknowledgement and completion notice
	Resumes       bool // takes up again what an earlier process of its name had placed
}

// RefusalCode says why one task was not accepted.
type RefusalCode uint8

const (
	NoFeasibleNode RefusalCode = iota + 1
	UnknownType
	UnknownMode
	DuplicateTask
	InvalidTask
	NeverFits
	NodeDraining
	Unsupported
	NotHeld
	QueueFull
	UnknownTemplate
	NotAllowed
)

// Passing reports whether a refusal is about the moment rather than about the task and the node.
func (c RefusalCode) Passing() bool { return c == NodeDraining || c == QueueFull }

var refusalNames = [...]string{"", "no feasible node", "unknown task type", "unknown mode", "duplicate task",
	"invalid task", "never fits", "node draining", "unsupported", "not held", "queue full", "unknown template",
	"not allowed"}

func (c RefusalCode) String() string {
	if int(c) < len(refusalNames) {
		return refusalNames[c]
	}
	return "unknown refusal"
}

// Label is String for counters: a word.
func (c RefusalCode) Label() string { return strings.ReplaceAll(c.String(), " ", "_") }

// Refusal declines one task, with the reason for people in Message.
type Refusal struct {
	TaskID  string
	Code    RefusalCode
	Message string
	Number  int64 // enqueue only: the refused placement's number
}

func (r Refusal) Error() string { return r.Code.String() + ": " + r.Message }

// Assignment is one placement on its way to a worker.
type Assignment struct {
	Number     int64 // in the scheduler's stream to this worker: 1, 2, 3 ...
	TaskID     string
	Type, Mode string
	Shape      Shape
	Guessed    bool  // nobody said how long it runs: its estimate ends nothing
	Takes      int64 // what an emulated execution takes, where that is not the estimate, milliseconds; 0: the estimate
	TimeScale  float64
	Command    *Command // nil: the type says what runs
	Attempt    int      // 1 is the first
	AtMostOnce bool     // an execution of it that has started is not followed by another
	User       string   // submitted it; empty: nobody in particular
}

// Enqueue carries placements to a worker. Placed is the scheduler's cumulative vector P at Number,
// so the worker's R equals it by construction; a message without assignments heals the stream after
// the scheduler gave placements up (they count as received and ended).
type Enqueue struct {
	Scheduler       SchedulerRef
	NodeIncarnation int64
	Number          int64
	Placed          Load
	Assignments     []Assignment
}

// EnqueueReply names the refused placements; all others are held by the worker.
type EnqueueReply struct {
	Refused []Refusal
	Report  *Report
}

// AttachReply tells a scheduler which worker process answers and how much of its stream arrived.
type AttachReply struct {
	Incarnation int64
	Number      int64
	Report      Report
}

// ProbeReply is a worker's answer to a probe.
type ProbeReply struct {
	Tasks   int64         // N
	Latency time.Duration // median of recent task latencies at or near this N; < 0: none known
	Pending int64         // D, milliseconds
	Report  *Report
}

// Completion is one ended task as its worker saw it.
type Completion struct {
	TaskID    string
	Number    int64
	Outcome   Outcome
	ExitCode  int
	Reason    string
	Wait, Run time.Duration
	Measured
}

// Measured is what an execution was seen to take.
type Measured struct {
	CPU         time.Duration
	PeakMemory  int64         // MiB
	Startup     time.Duration // part of the run: until the program itself began, where that is known apart
	OutOfMemory bool          // it was killed for taking more than its demand
	Output      string        // the end of what it printed
	Printed     int64         // bytes
}

// CompletionNotice carries completions to the scheduler that placed the tasks.
type CompletionNotice struct {
	Node                 string
	NodeIncarnation      int64
	SchedulerIncarnation int64
	Completions          []Completion
	Report               *Report
}

// Placed is a scheduler's cumulative vector P for one worker.
type Placed struct {
	Node            string
	NodeIncarnation int64
	Number          int64
	Placed          Load
}

// Delta is a scheduler's flush: P of every worker touched since the last acknowledged flush.
type Delta struct {
	Scheduler   string
	Incarnation int64
	Decisions   int64 // cumulative
	Placed      []Placed
	Experience  []Experience // some of what has changed since
}

// Received is a worker's cumulative vector R from one scheduler.
type Received struct {
	Scheduler   string
	Incarnation int64
	Number      int64
	Received    Load
}

// Report is a worker's state. Sequence orders the reports of one incarnation.
type Report struct {
	Node          string
	Incarnation   int64
	Sequence      int64
	Load          Load
	RunningDemand Resources
	Running       int
	Queued        int
	Draining      bool
	Received      []Received
	Blocked       time.Duration // cumulative head-of-line blocking
}

// Roster is the list of registered nodes; snapshots index into it. Every node has a home scheduler:
// Home[j] is the position in Schedulers of node j's, or -1.
type Roster struct {
	Version    int64
	Nodes      []Node
	Schedulers []string
	Home       []int32
}

// Snapshot is what the data service pushes: the aggregate of every node that changed since
// BaseVersion (0: of all). Row j describes roster node Node[j].
type Snapshot struct {
	Incarnation         int64
	Version             int64
	BaseVersion         int64
	RosterVersion       int64
	Roster              *Roster // when the receiver does not have RosterVersion yet
	Decisions           int64
	ReceiverIncarnation int64
	Node                []int32
	Load                []Load
	ReportSequence      []int64
	OwnNumber           []int64      // the receiver's last placement number that the row includes
	Experience          []Experience // of other schedulers, some of what is new
}

// NodeStatus is one node as the data service or a scheduler sees it.
type NodeStatus struct {
	Node   Node
	Load   Load
	Report *Report
	Heard  time.Duration // ago
}

// ClusterStatus answers a cluster query.
type ClusterStatus struct {
	Version    int64
	Decisions  int64
	Nodes      []NodeStatus
	Schedulers []SchedulerRef
}

// Setup is what a service runs, for whoever compares: two of one digest behave the same. A service that was not started
// from an inventory has no name in one, and no digest; one that is no scheduler has neither policy nor seed.
type Setup struct {
	Name        string // as the inventory calls it
	Version     string // of the program
	Digest      string // of what of its configuration concerns it
	Incarnation int64
	Batch       int // b of the data service, b_delta of a scheduler
	Policy      string
	Seed        uint64
}

// SubmitRequest carries tasks from a client.
type SubmitRequest struct {
	Client string // collects the results; empty, of a job: nobody does
	Tasks  []TaskSpec
	Job    *Job // of all these tasks; nil: none

	// Incarnation is that of the memory that may take the tasks: another answers Stale, and takes nothing. 0: any may.
	Incarnation int64
}

// CollectRequest asks for the records of a client's ended tasks; it waits up to Wait for the first. After
// acknowledges everything up to a cursor that the process of this incarnation gave; to another process it
// says nothing. Incarnation 0: the client does not know which process it was.
type CollectRequest struct {
	Client      string
	After       int64
	Incarnation int64
	Max         int
	Wait        time.Duration
	For         Asker // a client is one of its user's alone; never said by a message
}

// CollectReply holds records in the order in which they ended.
type CollectReply struct {
	Cursor      int64
	Records     []TaskRecord
	Incarnation int64 // of the scheduler's memory: a change means that it forgot
	Keeps       bool  // what it has accepted survives the process
}

// TaskQuery asks for one task (ID set), for those of IDs that are there, or for a page of up to Max tasks, or fewer, that come
// after a task. Pages are in an order that what comes and goes between them does not change, and the last one is empty.
type TaskQuery struct {
	ID        string
	IDs       []string
	Max       int
	After     string   // empty: the first page
	Job       string   // its tasks alone; empty: of all jobs and of none
	Ended     bool     // of a scheduler: what has ended alone, the newest first
	Answering []string // of a worker: not what one of these schedulers waits for
	For       Asker    // never said by a message
}
