package conf

import (
	"slices"

	"dodoor/sim"
)

// Sim configures what only the simulator needs to know: what messages cost, how tasks on one node
// slow each other down, how submissions are spread, and what fails. The rest of the file holds
// there as in a real cluster, the noise of durations (worker.noise) and the handlers of each
// service (max_rpcs) included. Times are simulated wall time, which generator.time_scale does not
// divide.
type Sim struct {
	Delay         Duration `toml:"delay"`          // of a message, one way
	SchedulerCost Duration `toml:"scheduler_cost"` // a handler's time for one request
	DatastoreCost Duration `toml:"datastore_cost"`
	WorkerCost    Duration `toml:"worker_cost"`
	Interference  float64  `toml:"interference"` // tasks on a full node take 1 + this times as long
	Skew          float64  `toml:"skew"`         // share of submissions for the first scheduler; 0: even
	Quirks        []string `toml:"quirks"`       // faults of the paper's prototype, on purpose
	Change        Change   `toml:"change"`
	Faults        []Fault  `toml:"fault"`
}

// Change makes tasks of a type take another time in the middle of a run, which nobody is told.
type Change struct {
	Type   string  `toml:"type"`   // empty: every type
	From   float64 `toml:"from"`   // after this share of the tasks
	Factor float64 `toml:"factor"` // of what they took before; 1: nothing changes
}

// Fault is a service, or all nodes of a class, that dies without notice. Faults have no names, so
// an override replaces the whole list.
type Fault struct {
	What  string   `toml:"what"`
	Name  string   `toml:"name"`  // as in a cluster in one process: m510-3, m510, scheduler-2
	At    Duration `toml:"at"`    // since the start of the run
	Until Duration `toml:"until"` // it starts again, empty; 0: never
}

// TruncatedGaps reports whether arrivals are those of the prototype's generator.
func (s *Sim) TruncatedGaps() bool { return slices.Contains(s.Quirks, sim.TruncatedGaps) }
