package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// spilled is what a replica that keeps knows of results that are in the journal alone: uncollected ones, but for the newest. Whoever
// needs one asks the shell for it, by its key ([Replica.Wanted]), and then finds it in memory. What was asked for and is still
// not collected leaves memory again when others have been asked for since.
type spilled struct {
	on        bool
	durable   int64 // cursor up to which results are
	inherited int64 // cursor up to which earlier processes told of them
	wanted    []string
	types     map[string]string // one copy of the name of each
	back      []readBack        // the oldest first

	position, cursor int64 // when both are durable, the results up to the cursor are
}

// readBack is a result that was read from the journal. One of another cursor has taken its place since when it is forgotten.
type readBack struct {
	e      *ended
	cursor int64
}

// handed notes that a group of changes up to a position tells of all results up to a cursor.
func (s *spilled) handed(position, cursor int64) { s.position, s.cursor = position, cursor }

// synced notes that changes up to a position are durable.
func (s *spilled) synced(upTo int64) {
	if upTo >= s.position {
		s.durable = max(s.durable, s.cursor)
	}
}

// leave leaves a result to the journal.
func (s *results) leave(e *ended) {
	status := e.status(e.record.Scheduler, e.record)
	e.size, e.outcome = uint32(status.Size()), e.record.Outcome
	s.unload(e, e.record.Type)
	s.records.Put(e.record)
	e.record = nil
}

// unload keeps of a result what it takes to tell that it is lost.
func (s *results) unload(e *ended, ofType string) {
	name, known := s.spilled.types[ofType]
	if !known {
		name = strings.Clone(ofType)
		s.spilled.types[name] = name
	}
	e.absent, e.packed = true, packed(name)
}

// leaveAgain leaves what was read from the journal to it again, but for the newest.
func (s *results) leaveAgain() {
	n := max(0, len(s.spilled.back)-s.newest)
	for _, b := range s.spilled.back[:n] {
		if b.e.cursor == b.cursor && !b.e.collected {
			s.unload(b.e, b.e.packed.unpack().Type)
		}
	}
	s.spilled.back = slices.Delete(s.spilled.back, 0, n)
}

func (s *results) want(e *ended) { s.spilled.wanted = append(s.spilled.wanted, resultKey(e.cursor)) }

// present is what can be told of a client's queue at once: up to limit results behind a cursor. When the first that is needed is absent
// it asks for that and for those behind it, which are as many as stay in memory at most.
func (s *results) present(queue []*ended, after int64, limit int) []*ended {
	acknowledged, _ := slices.BinarySearchFunc(queue, after+1, func(e *ended, cursor int64) int { return int(e.cursor - cursor) })
	needed := queue[:min(acknowledged+max(limit, 0), len(queue))]
	n := slices.IndexFunc(needed, func(e *ended) bool { return e.absent })
	switch {
	case n < 0:
		return needed
	case n > 0:
		return needed[:n]
	}
	for _, e := range needed[:min(len(needed), s.newest)] {
		if e.absent {
			s.want(e)
		}
	}
	return nil
}

// Wanted names what the last Collect, Query or JobTasks needs of the journal; nil: nothing, its answer stands. Else the answer lacks that:
// give [Replica.Fetched] each of them, and ask again before the replica does anything else.
func (r *Replica) Wanted() []string {
	wanted := r.results.spilled.wanted
	r.results.spilled.wanted = nil
	return wanted
}

// Fetched takes the value of a key that was wanted, nil if there is none, or why it cannot be read. What nobody can tell any more is lost
// to its client, which the error says: it is for the log.
func (r *Replica) Fetched(key string, value []byte, unreadable error) error {
	s := &r.results
	e := s.claimed.absentAt(cursorOf(key[len(keyResult):]))
	if e == nil { // collected or forgotten meanwhile
		return nil
	}
	record, err := r.fetched(e, key, value, unreadable)
	if err == nil {
		s.spilled.back = append(s.spilled.back, readBack{e, e.cursor})
	} else {
		record = cluster.TaskRecord{ID: e.id, Type: string(e.packed), Scheduler: r.cfg.Name, Received: e.at, Outcome: cluster.Lost,
			ExitCode: -1, Reason: fmt.Sprintf("it ended as %v, and its result cannot be read: %v", e.outcome, err)}
	}
	e.packed, s.scratch = pack(&record, s.scratch)
	e.absent = false
	return err
}

func (r *Replica) fetched(e *ended, key string, value []byte, unreadable error) (record cluster.TaskRecord, err error) {
	if unreadable != nil {
		return record, unreadable
	}
	var k keptResult
	if err := unpackValue(key, value, func(p *packer) { p.result(&k) }); err != nil {
		return record, err
	}
	if k.record.ID != e.id {
		return record, broken(key, "it is the result of task %.80q, not of %.80q", k.record.ID, e.id)
	}
	k.record.Received = r.receivedAt(e.cursor, k.record.Received)
	return k.record, nil
}

// receivedAt is when a result's task was received, of this process's clock, from what is kept.
func (r *Replica) receivedAt(cursor int64, kept time.Duration) time.Duration {
	if cursor > r.results.spilled.inherited {
		return kept - time.Duration(r.cfg.Epoch)
	}
	return r.since(int64(kept))
}

// absentAt is the result with a cursor, if it is in the journal alone.
func (s *shelf) absentAt(cursor int64) *ended {
	if i := s.below(cursor); i < len(s.ring) && s.ring[i].cursor == cursor && s.ring[i].absent {
		return s.ring[i]
	}
	return nil
}
