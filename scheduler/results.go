package scheduler

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// results keeps the records of ended tasks: each client reads its own in order behind a cursor, and
// what is collected stays for queries until newer records need the room. Both number and age are
// bounded.
type results struct {
	limit   int // of either shelf
	keep    time.Duration
	claimed shelf // of clients
	others  shelf // that nobody collects: no client that stays away keeps them, or keeps others out for them
	byID    map[string]*ended
	clients map[string]*client
	last    int64 // cursor handed out; one sequence for all clients, so that it never goes back
	waiting int   // not collected yet
	expired int64 // dropped before anybody collected them

	spare   cluster.Spare[ended]
	records cluster.Spare[cluster.TaskRecord]
	scratch []byte
}

// ended is a task that ended.
type ended struct {
	id        string
	record    *cluster.TaskRecord // nil when it is packed
	packed    packed
	client    *client // nil: nobody collects it
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

func (s *results) len() int { return len(s.claimed.ring) + len(s.others.ring) }

// full reports whether uncollected results use all the room, so that nothing more may be accepted.
func (s *results) full() bool { return s.waiting >= s.limit }

// add makes room for the record of a client's task, which the caller fills in. One that nobody collects counts as collected.
func (s *results) add(now time.Duration, name, id string) *cluster.TaskRecord {
	s.last++
	e := s.spare.Take()
	*e = ended{id: id, record: s.records.Take(), cursor: s.last, at: now, collected: name == ""}
	s.byID[id] = e
	if name == "" {
		s.others.put(e)
		return e.record
	}
	s.claimed.put(e)
	c := s.clients[name]
	if c == nil {
		c = &client{name: name}
		s.clients[name] = c
	}
	c.last = s.last
	c.queue = append(c.queue, e)
	e.client = c
	s.waiting++
	return e.record
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
		records = append(records, *e.record)
		cursor = e.cursor
	}
	return records, cursor
}

// expire drops records beyond the limit that were collected, and all that are too old. Of the others it packs
// the oldest, as far as they were collected.
func (s *results) expire(now time.Duration) {
	s.clear(now, &s.claimed)
	s.clear(now, &s.others)
}

func (s *results) clear(now time.Duration, from *shelf) {
	n := 0
	for n < len(from.ring) {
		e := from.ring[n]
		tooMany := len(from.ring)-n > s.limit && e.collected
		if !tooMany && now-e.at < s.keep {
			break
		}
		s.forget(e)
		n++
	}
	from.drop(n)
	for ; from.packed < len(from.ring)-unpacked && from.ring[from.packed].collected; from.packed++ {
		s.pack(from.ring[from.packed])
	}
}

func (s *results) pack(e *ended) {
	e.packed, s.scratch = pack(e.record, s.scratch)
	s.records.Put(e.record)
	e.record = nil
}

func (s *results) forget(e *ended) {
	if s.byID[e.id] == e { // it may have run again
		delete(s.byID, e.id)
	}
	c := e.client
	if e.record != nil {
		s.records.Put(e.record)
	}
	if !e.collected {
		s.waiting--
		s.expired++
		c.queue = c.queue[1:] // the oldest record is the client's oldest
	}
	if c != nil && len(c.queue) == 0 && c.last == e.cursor {
		delete(s.clients, c.name)
	}
	*e = ended{}
	s.spare.Put(e)
}

// Collect acknowledges a client's records up to q.After, and appends up to q.Max further ones to into, which it
// returns with the cursor to acknowledge next. The cursor of another process acknowledges nothing: taking it
// would drop records unread. One of which nobody says whose it is, and that this process never handed out, is
// cluster.Invalid.
func (r *Replica) Collect(into []cluster.TaskRecord, q *cluster.CollectRequest) ([]cluster.TaskRecord, int64, error) {
	after := q.After
	if q.Incarnation != 0 && q.Incarnation != r.cfg.Incarnation {
		after = 0
	}
	if after < 0 || after > r.results.last {
		return nil, 0, cluster.Errorf(cluster.Invalid, "cursor %d was never handed out by this process of scheduler %s (newest: %d); start "+
			"from 0",
			after, r.cfg.Name, r.results.last)
	}
	records, cursor := r.results.collect(into, q.Client, after, q.Max)
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
	var list []cluster.TaskStatus
	for _, id := range r.firstIDs(q.Max) {
		list = append(list, r.status(r.tasks[id]))
	}
	for _, e := range newest(&r.results.claimed, &r.results.others, q.Max-len(list)) {
		list = append(list, r.endedStatus(e))
	}
	return list
}

// firstIDs returns the first n ids of live tasks in order; there may be a million others.
func (r *Replica) firstIDs(n int) []string {
	var ids []string
	last := "" // none behind it is wanted; empty: not known yet
	for id := range r.tasks {
		if n == 0 || last != "" && id > last {
			continue
		}
		if ids = append(ids, id); len(ids) == 2*n {
			slices.Sort(ids)
			ids = ids[:n]
			last = ids[n-1]
		}
	}
	slices.Sort(ids)
	return ids[:min(n, len(ids))]
}

func (r *Replica) status(t *task) cluster.TaskStatus {
	return cluster.TaskStatus{ID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode, Phase: t.phase, Node: r.workers.name(t.worker),
		Scheduler: r.cfg.Name}
}

func (r *Replica) endedStatus(e *ended) cluster.TaskStatus {
	var record cluster.TaskRecord // the original's memory is used again
	if e.record != nil {
		record = *e.record
	} else {
		record = e.packed.unpack()
	}
	return cluster.TaskStatus{ID: record.ID, Type: record.Type, Mode: record.Mode, Phase: cluster.Ended,
		Node: record.Worker, Scheduler: r.cfg.Name, Record: &record}
}
