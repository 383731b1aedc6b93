package datastore

import (
	"time"

	"dodoor/internal/cluster"
)

// replica is a registered scheduler: which snapshot it has, and the pushes to it. One is under way at a time, so
// that each builds on what the one before it brought.
type replica struct {
	cluster.SchedulerRef
	registration int64    // tells the pushes to this registration from those to an earlier one
	has          revision // the newest snapshot that it took; zero: none
	sent         revision // the snapshot under way

	asked   []int64       // numbers of the pushes that are not answered: the first is under way, the others wait
	again   bool          // the one under way is sent again: what it had built on was not there
	failing bool          // the last push did not arrive
	since   time.Duration // on the clock of silence
}

// revision says how new a snapshot is.
type revision struct{ version, roster, told int64 }

// Push is a snapshot that goes to one scheduler now. Fill makes it; Answered or Failed takes what came of it.
type Push struct {
	To           cluster.SchedulerRef
	registration int64
}

// backlog is how many pushes may wait for a scheduler that is still busy with one. A push always
// carries the newest state, so a longer backlog would repeat itself.
const backlog = 4

// pushAll asks for a push of the present state to every registered scheduler. A busy one gets it later, or not at
// all when enough wait for it already: it is skipped, and nobody waits for it.
func (s *Store) pushAll(now time.Duration) Actions {
	s.pushed, s.pushedAt, s.rosterDirty = s.version, now, false
	s.asks++
	s.due = s.due[:0]
	for _, r := range s.schedulers {
		if len(r.asked) > backlog {
			s.skipped++
			continue
		}
		r.asked = append(r.asked, s.asks)
		if len(r.asked) == 1 {
			s.due = append(s.due, r.push())
		}
	}
	return Actions{Push: s.due}
}

func (r *replica) push() Push { return Push{To: r.SchedulerRef, registration: r.registration} }

// Fill makes the snapshot of a push from the present state: the nodes that changed since what the scheduler has,
// or everything when it has nothing or an older roster. The snapshot's columns keep their memory. It is false
// when the scheduler has left or registered again since: there is nothing to send.
func (s *Store) Fill(snap *cluster.Snapshot, p Push) bool {
	r := s.receiver(p)
	if r == nil {
		return false
	}
	told := s.fill(snap, r)
	r.sent = revision{snap.Version, snap.RosterVersion, told}
	return true
}

// Forget makes the snapshot of a push a whole one: the scheduler has not got what it took.
func (s *Store) Forget(p Push) {
	if r := s.receiver(p); r != nil {
		r.has = revision{}
	}
}

// receiver returns whom a push is for, or nil when that registration is over.
func (s *Store) receiver(p Push) *replica {
	if c := s.counts[p.To.Name]; c != nil && c.replica != nil && c.replica.registration == p.registration {
		return c.replica
	}
	return nil
}

// Answered takes a scheduler's answer to a push; the code 0 says that it took the snapshot, and the next one
// builds on it. With cluster.Gap it has not got what this one builds on, and gets everything at once; it may say
// so once per push. With cluster.Stale another process is at its address. Any other code is a push that failed.
func (s *Store) Answered(now time.Duration, p Push, code cluster.ErrorCode) Actions {
	s.silence.hear(now)
	r := s.receiver(p)
	switch {
	case r == nil:
		return Actions{}
	case code == 0:
		r.has, r.failing = r.sent, false
		return s.next(r)
	case code == cluster.Gap && !r.again:
		r.has, r.again = revision{}, true
		s.due = append(s.due[:0], r.push())
		return Actions{Push: s.due}
	}
	return s.failed(now, r, code == cluster.Stale)
}

// Failed takes a push that nobody answered; refused: nobody listens at the address, so the process is gone. A
// failure loses nothing, as the next push covers it, and only the next push tries again.
func (s *Store) Failed(now time.Duration, p Push, refused bool) Actions {
	if r := s.receiver(p); r != nil {
		return s.failed(now, r, refused)
	}
	return Actions{}
}

// failed unregisters a scheduler that is gone, or that has been out of reach for the node timeout: it registers
// again when it is back.
func (s *Store) failed(now time.Duration, r *replica, gone bool) Actions {
	first := !r.failing
	if first {
		r.failing, r.since = true, s.silence.now(now)
	}
	if gone || s.silence.since(now, r.since) >= s.cfg.NodeTimeout {
		s.UnregisterScheduler(r.Name, r.Incarnation)
		return Actions{Failing: first, Gone: true}
	}
	actions := s.next(r)
	actions.Failing = first
	return actions
}

// next ends the push under way and begins one that waits.
func (s *Store) next(r *replica) Actions {
	r.asked = append(r.asked[:0], r.asked[1:]...)
	r.again = false
	if len(r.asked) == 0 {
		return Actions{}
	}
	s.due = append(s.due[:0], r.push())
	return Actions{Push: s.due}
}

// Settle asks for a push whatever the batch holds. Settled tells, given asked, when everybody has answered.
func (s *Store) Settle(now time.Duration) (actions Actions, asked int64) {
	return s.pushAll(now), s.asks
}

// Settled reports whether every push up to a Settle was answered or given up, by schedulers that are still there.
func (s *Store) Settled(asked int64) bool {
	for _, r := range s.schedulers {
		if len(r.asked) > 0 && r.asked[0] <= asked {
			return false
		}
	}
	return true
}

// Skipped returns the number of pushes that a busy scheduler did not get.
func (s *Store) Skipped() int64 { return s.skipped }
