// Package scheduler is one scheduler replica as a pure state machine: it places tasks from a cached
// view of the cluster without asking anybody (paper, Sec. 3), keeps exact cumulative accounts of what
// it placed, and carries every accepted task to one terminal state. It does no I/O and reads no clock;
// schedulerd drives it over Thrift.
package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// A Policy decides where tasks go. It is pure and not safe for concurrent use; the caller reads the
// clock. The slices of a Step belong to the policy and are valid until its next call.
type Policy interface {
	// Submit may place t now, ask for probes first, or both. A Step with neither means that no
	// candidate is feasible.
	Submit(now time.Duration, t *cluster.Task, v *View) Step
	// Probed takes the answer to a probe that an earlier Step asked for (or its failure).
	Probed(now time.Duration, p Probe, v *View) Step
	// Cached reports whether decisions read the view's loads. For a policy that asks the workers
	// instead, the replica neither flushes deltas nor, in consequence, gets snapshots per batch.
	Cached() bool
}

// A Ticker is a policy that also acts as time goes by, such as one that polls: its Step may hold
// ProbeCalls without a task.
type Ticker interface {
	Tick(now time.Duration, v *View) Step
}

// Step is what a policy wants done.
type Step struct {
	Place []Placement
	Probe []ProbeCall
}

// Placement binds a task to a node (early binding).
type Placement struct {
	Task *cluster.Task
	Node int
}

// ProbeCall asks a node for its state, on behalf of a task where there is one.
type ProbeCall struct {
	Task *cluster.Task
	Node int
}

// Probe is the answer to a ProbeCall. Failed is set when none came before the deadline.
type Probe struct {
	Task   *cluster.Task
	Node   int
	Answer cluster.ProbeReply
	Failed bool
}
