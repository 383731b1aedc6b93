package scheduler

import "slices"

// again is what it takes to run a task again.
type again struct {
	batch   *batch // without a client: nobody waits for the result of a task that somebody else asked for again
	entries entries
}

// mostAgain bounds the bytes of what a replica keeps for running tasks again, templates included. Beyond it jobs that are over
// are forgotten, and when that is not enough, tasks that end cannot run again.
const mostAgain = 256 << 20

// againWeight is about how many bytes a task takes here beyond its entries.
const againWeight = 120

func (a *again) size() int {
	return againWeight + len(a.entries)
}

// keepAgain keeps what it takes to run a task again that ended otherwise than well.
func (s *jobs) keepAgain(j *job, index int64, a again) {
	size, t := a.size(), a.batch.template
	if t.again == 0 {
		size += t.shared.Size()
	}
	for s.bytes+size > mostAgain {
		if s.letGo(1) > 0 {
			continue
		}
		oldest := s.over.Front()
		if oldest == nil {
			return
		}
		s.drop(oldest.Value.(*job))
	}
	s.bytes += size
	t.again++
	t.retain()
	if j.again == nil {
		j.again = map[int64]again{}
	}
	j.again[index] = a
}

// dropAgain lets go of it, if it was kept.
func (s *jobs) dropAgain(j *job, index int64) {
	a, kept := j.again[index]
	if !kept {
		return
	}
	delete(j.again, index)
	s.bytes -= a.size()
	t := a.batch.template
	if t.again--; t.again == 0 {
		s.bytes -= t.shared.Size()
	}
	s.templates.release(t)
}

// letGo lets go of what it takes to run so many tasks of forgotten jobs again, and returns how many there were.
func (s *jobs) letGo(most int) (n int) {
	for n < most && len(s.leaving) > 0 {
		j, more := s.leaving[0], false
		j.from(j.letGo, true, func(e *entry) bool {
			s.dropAgain(j, e.index)
			j.letGo = e.index + 1
			n++
			more = n == most
			return !more
		})
		if !more {
			s.leaving = slices.Delete(s.leaving, 0, 1)
		}
	}
	return n
}

// unclaimed is a batch of the same tasks without a client, one copy for all.
func (b *batch) unclaimed() *batch {
	if b.client == "" {
		return b
	}
	if b.orphan == nil {
		b.orphan = &batch{}
		*b.orphan = *b
		b.orphan.client, b.orphan.orphan = "", nil
	}
	return b.orphan
}
