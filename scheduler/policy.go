package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// A Policy decides where tasks go. It is pure and not safe for concurrent use; the caller reads the
// clock. The slices of a Decision belong to the policy and are valid until its next call.
type Policy interface {
	// Submit may place t now, ask for probes first, or both. A Decision with neither means that no
	// candidate is feasible.
	Submit(now time.Duration, t *cluster.Task, v *View) Decision
	// Wants says what the View has to hold for it. It is asked once.
	Wants() Wants
}

// Wants is what a policy asks of its View besides the nodes; the rest is neither kept nor paid for.
type Wants struct {
	Loads   Loads
	Homes   bool // Homes and Share
	Weights bool // DrawWeighted; with Homes it draws nodes at home elsewhere
}

// Loads say how fresh the loads of a View are.
type Loads uint8

const (
	// Unread loads are not kept: the policy asks the workers, if anybody. The replica neither flushes deltas
	// nor, in consequence, gets snapshots per batch.
	Unread    Loads = iota
	Snapshots       // the newest snapshot, as in the paper
	Corrected       // and the own placements that it does not include
	Fresh           // and workers' reports that ride on acknowledgements and completion notices
)

// A Prober is a policy that asks workers: Probed takes the answer to a probe that an earlier Decision asked for,
// or its failure.
type Prober interface {
	Probed(now time.Duration, p Probe, v *View) Decision
}

// A Ticker is a policy that also acts as time goes by, such as one that polls: its Decision may hold
// ProbeCalls without a task.
type Ticker interface {
	Tick(now time.Duration, v *View) Decision
}

// Decision is what a policy wants done.
type Decision struct {
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
