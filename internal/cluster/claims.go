package cluster

// Claim is a placement by an earlier process of a scheduler, which it remembers.
type Claim struct {
	TaskID string
	Number int64
}

// ClaimRequest asks a worker what became of placements.
type ClaimRequest struct {
	Scheduler       SchedulerRef
	NodeIncarnation int64
	Claims          []Claim
}

// Holding is what became of a placement by an earlier process.
type Holding uint8

const (
	Held  Holding = iota + 1 // it waits, runs, or has ended and the notice is on its way
	Never                    // it did not arrive, and will not any more
	Gone                     // it arrived, and the worker no longer knows how it ended
)

var holdingNames = [...]string{"", "held", "never", "gone"}

func (h Holding) String() string {
	if int(h) < len(holdingNames) {
		return holdingNames[h]
	}
	return "unknown"
}
