package scheduler

import (
	"slices"
	"sort"
	"time"

	"dodoor/internal/cluster"
)

// results keeps the records of ended tasks: each client reads its own in order behind a cursor, and
// what is collected stays for queries until newer records need the room. Both number and age are
// bounded.
type results struct {
	limit   int
	keep    time.Duration
	ring    []*ended // oldest first
	byID    map[string]*ended
	clients map[string]*client
	last    int64 // cursor handed out; one sequence for all clients, so that it never goes back
	waiting int   // not collected yet
	expired int64 // dropped before anybody collected them
	spare   cluster.Spare[ended]
}

type ended struct {
	record    cluster.TaskRecord
	client    *client
	cursor    int64
	at        time.Duration
	collected bool
}

// client is one collector: records with a cursor above acknowledged are still to be read.
type client struct {
	name  string
	last  int64 // cursor of its newest record
	queue []*ended
}

func newResults(limit int, keep time.Duration) results {
	return results{limit: limit, keep: keep, byID: map[string]*ended{}, clients: map[string]*client{}}
}

func (s *results) len() int { return len(s.ring) }

// full reports whether uncollected results use all the room, so that nothing more may be accepted.
func (s *results) full() bool { return s.waiting >= s.limit }

// add makes room for the record of a client's task, which the caller fills in.
func (s *results) add(now time.Duration, name, id string) *cluster.TaskRecord {
	c := s.clients[name]
	if c == nil {
		c = &client{name: name}
		s.clients[name] = c
	}
	s.last++
	c.last = s.last
	e := s.spare.Take()
	e.client, e.cursor, e.at, e.collected = c, s.last, now, false
	c.queue = append(c.queue, e)
	s.ring = append(s.ring, e)
	s.byID[id] = e
	s.waiting++
	return &e.record
}

// collect acknowledges everything up to after and appends up to limit further records to into.
func (s *results) collect(into []cluster.TaskRecord, name string, after int64, limit int) ([]cluster.TaskRecord, int64) {
	c := s.clients[name]
	if c == nil {
		return into, after
	}
	read := 0
	for read < len(c.queue) && c.queue[read].cursor <= after {
		c.queue[read].collected = true
		s.waiting--
		read++
	}
	c.queue = append(c.queue[:0], c.queue[read:]...)
	records := slices.Grow(into, min(limit, len(c.queue)))
	cursor := after
	for _, e := range c.queue[:min(limit, len(c.queue))] {
		records = append(records, e.record)
		cursor = e.cursor
	}
	return records, cursor
}

// expire drops records beyond the limit that were collected, and all that are too old.
func (s *results) expire(now time.Duration) {
	n := 0
	for n < len(s.ring) {
		e := s.ring[n]
		tooMany := len(s.ring)-n > s.limit && e.collected
		if !tooMany && now-e.at < s.keep {
			break
		}
		s.forget(e)
		n++
	}
	if n > 0 {
		s.ring = append(s.ring[:0], s.ring[n:]...)
		clear(s.ring[len(s.ring) : len(s.ring)+n])
	}
}

func (s *results) forget(e *ended) {
	delete(s.byID, e.record.ID)
	c := e.client
	if !e.collected {
		s.waiting--
		s.expired++
		c.queue = c.queue[1:] // the oldest record is the client's oldest
	}
	if len(c.queue) == 0 && c.last == e.cursor {
		delete(s.clients, c.name)
	}
	e.client = nil
	s.spare.Put(e)
}

// Collect acknowledges a client's records up to after and returns up to limit further ones with the
// cursor to acknowledge next. A cursor that this process never handed out is cluster.Invalid: taking it
// would drop records unread.
func (r *Replica) Collect(client string, after int64, limit int) ([]cluster.TaskRecord, int64, error) {
	return r.AppendRecords(nil, client, after, limit)
}

// AppendRecords is Collect that appends the records to into.
func (r *Replica) AppendRecords(into []cluster.TaskRecord, client string, after int64, limit int) ([]cluster.TaskRecord, int64, error) {
	if after < 0 || after > r.results.last {
		return nil, 0, cluster.Errorf(cluster.Invalid, "cursor %d was never handed out by this process of scheduler %s (newest: %d); start from 0",
			after, r.cfg.Name, r.results.last)
	}
	records, cursor := r.results.collect(into, client, after, limit)
	return records, cursor, nil
}

// Query returns the state of one task, or of up to limit tasks in order of their ids.
func (r *Replica) Query(q cluster.TaskQuery) []cluster.TaskStatus {
	if q.ID != "" {
		if t := r.tasks[q.ID]; t != nil {
			return []cluster.TaskStatus{r.status(t)}
		}
		if e := r.results.byID[q.ID]; e != nil {
			return []cluster.TaskStatus{r.endedStatus(e)}
		}
		return nil
	}
	ids := make([]string, 0, len(r.tasks))
	for id := range r.tasks {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	var list []cluster.TaskStatus
	for _, id := range ids[:min(q.Max, len(ids))] {
		list = append(list, r.status(r.tasks[id]))
	}
	for i := len(r.results.ring) - 1; i >= 0 && len(list) < q.Max; i-- {
		list = append(list, r.endedStatus(r.results.ring[i]))
	}
	return list
}

func (r *Replica) status(t *task) cluster.TaskStatus {
	return cluster.TaskStatus{ID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode, Phase: t.phase, Node: t.worker, Scheduler: r.cfg.Name}
}

func (r *Replica) endedStatus(e *ended) cluster.TaskStatus {
	record := e.record // the original's memory is used again
	return cluster.TaskStatus{ID: e.record.ID, Type: e.record.Type, Mode: e.record.Mode, Phase: cluster.Ended,
		Node: record.Worker, Scheduler: r.cfg.Name, Record: &record}
}
