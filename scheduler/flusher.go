package scheduler

import "dodoor/internal/cluster"

// Flusher carries this replica's deltas to the data service: one message at a time, and what waits leaves
// as one delta. One that does not arrive is not repeated: its workers go into the replica's next delta. It
// knows with which process of the data service the replica is registered, and so when it has to register
// again ([Registrar]).
type Flusher struct {
	Replica  *Replica
	MaxBatch int // deltas made one

	waiting []*cluster.Delta
	delta   *cluster.Delta // under way
	made    int64          // of so many that were posted
	service int64          // incarnation of the data service registered with; 0: none

	posted, settled int64 // deltas; settled ones were answered or given up
}

// Post queues a delta.
func (f *Flusher) Post(d *cluster.Delta) {
	f.waiting = append(f.waiting, d)
	f.posted++
}

// Next returns what to flush now, which counts as under way from then on; nil: nothing.
func (f *Flusher) Next() *cluster.Delta {
	if f.delta != nil || len(f.waiting) == 0 {
		return nil
	}
	n := min(len(f.waiting), f.MaxBatch)
	f.delta, f.made = Merge(f.waiting[:n]), int64(n)
	rest := copy(f.waiting, f.waiting[n:])
	clear(f.waiting[rest:])
	f.waiting = f.waiting[:rest]
	return f.delta
}

// Answered takes the answer of a process of the data service to the delta under way, or the lack of one. It
// returns whether the replica has to register again: the data service is away, has forgotten it, or is
// another process.
func (f *Flusher) Answered(service int64, err error) (lost bool) {
	delta := f.delta
	f.delta = nil
	f.settled += f.made
	if lost = err != nil || service != f.service; lost {
		f.Replica.FlushFailed(delta)
	}
	return lost
}

// Registered takes the incarnation of the data service that has taken the replica's registration; 0: it is
// not registered any more, and its view may become stale.
func (f *Flusher) Registered(service int64) {
	f.service = service
	f.Replica.fresh.away = service == 0
}

// IsRegistered reports whether the replica is registered, as far as it knows.
func (f *Flusher) IsRegistered() bool { return f.service != 0 }

// Posted returns how many deltas were posted so far.
func (f *Flusher) Posted() int64 { return f.posted }

// Settled returns how many of the posted deltas, the oldest, were answered or given up.
func (f *Flusher) Settled() int64 { return f.settled }
