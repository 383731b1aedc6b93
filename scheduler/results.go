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
	holders int   // clients with open tasks or uncollected results
	last    int64 // cursor handed out; one sequence for all clients, so that it never goes back
	waiting int   // not collected yet
	expired int64 // dropped before anybody collected them
	newest  int   // so many of a shelf stay as they are; older ones are packed, or left to the journal
	spilled spilled

	journal *journal
	spare   cluster.Spare[ended]
	records cluster.Spare[cluster.TaskRecord]
	scratch []byte
}

// ended is a task that ended.
type ended struct {
	id        string
	in        inJob
	record    *cluster.TaskRecord // nil when it is packed, or absent
	packed    packed              // the name of its type when it is absent
	client    *client             // nil: nobody collects it
	cursor    int64
	at        time.Duration
	size      uint32          // of its status, when it is absent
	outcome   cluster.Outcome // likewise
	absent    bool            // it is in the journal alone
	collected bool
}

// inJob is where a task belongs: a job, or none, which is empty.
type inJob struct {
	job   string
	index int64
}

// client is one collector: records with a cursor above acknowledged are still to be read.
type client struct {
	name  string
	open  int   // its tasks that have not ended
	last  int64 // cursor of its newest record
	queue []*ended
}

// mostClients bounds the clients that hold something: a share of the room is no room any more when there are more.
const mostClients = 4096

func newResults(limit int, keep time.Duration) results {
	return results{limit: limit, keep: keep, newest: unpacked, spilled: spilled{types: map[string]string{}}, journal: &journal{},
		byID: map[string]*ended{}, clients: map[string]*client{}}
}

func (s *results) len() int { return len(s.claimed.ring) + len(s.others.ring) }

// client returns what is known of a client.
func (s *results) client(name string) *client {
	c := s.clients[name]
	if c == nil {
		c = &client{name: name}
		s.clients[name] = c
	}
	return c
}

// opened books a task of a client that was accepted, and closed its end, after its record was added.
func (s *results) opened(name string) {
	if name != "" {
		c := s.client(name)
		s.hold(c, func() { c.open++ })
	}
}

func (s *results) closed(name string) {
	if name != "" {
		c := s.client(name)
		s.hold(c, func() { c.open-- })
	}
}

// hold changes what a client holds, and counts those that hold something.
func (s *results) hold(c *client, change func()) {
	before := c.held() > 0
	change()
	if after := c.held() > 0; after && !before {
		s.holders++
	} else if before && !after {
		s.holders--
	}
}

func (c *client) held() int { return c.open + len(c.queue) }

// crowded tells whether a client may bring nothing more, as uncollected results use all the room and what it holds is its
// share of it or more: no client keeps another out. One that nobody collects for takes no room.
func (s *results) crowded(name string) (held, share int, crowded bool) {
	if s.waiting < s.limit || name == "" {
		return 0, 0, false
	}
	holders := s.holders
	if c := s.clients[name]; c != nil {
		held = c.held()
	}
	if held == 0 {
		return 0, 0, holders >= mostClients
	}
	share = max(1, s.limit/max(holders, 1))
	return held, share, held >= share
}

// add makes room for the record of a client's task, which the caller fills in. One that nobody collects counts as collected.
func (s *results) add(now time.Duration, name, id string, in inJob) *cluster.TaskRecord {
	s.last++
	e := s.spare.Take()
	*e = ended{id: id, in: in, record: s.records.Take(), cursor: s.last, at: now, collected: name == ""}
	s.byID[id] = e
	if name == "" {
		s.others.put(e)
		return e.record
	}
	s.claimed.put(e)
	c := s.client(name)
	c.last = s.last
	s.hold(c, func() { c.queue = append(c.queue, e) })
	e.client = c
	s.waiting++
	return e.record
}

// collect acknowledges everything up to after and appends up to limit further records to into. Where the next one that it needs is in
// the journal alone it asks for that and for those behind it, and stops there; what it acknowledges stays for queries, so it needs
// that as well.
func (s *results) collect(into []cluster.TaskRecord, name string, after int64, limit int) ([]cluster.TaskRecord, int64) {
	c := s.clients[name]
	if c == nil {
		return into, after
	}
	read := 0
	for read < len(c.queue) && c.queue[read].cursor <= after && !c.queue[read].absent {
		c.queue[read].collected = true
		s.journal.acknowledged(c.queue[read])
		s.waiting--
		read++
	}
	s.hold(c, func() { c.queue = append(c.queue[:0], c.queue[read:]...) })
	page := s.present(c.queue, after, limit)
	records := slices.Grow(into, len(page))
	cursor := after
	for _, e := range page {
		records = append(records, e.fetch())
		cursor = e.cursor
	}
	return records, cursor
}

// fetch returns a record, packed or not.
func (e *ended) fetch() cluster.TaskRecord {
	if e.record != nil {
		return *e.record
	}
	return e.packed.unpack()
}

// expire drops records beyond the limit that were collected, and all that are too old. Of the others it packs
// the oldest, or leaves them to the journal.
func (s *results) expire(now time.Duration) {
	s.leaveAgain()
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
	s.shrink(from)
}

// shrink packs the oldest of a shelf, and leaves to the journal what is to be collected and is durable there.
func (s *results) shrink(from *shelf) {
	for ; from.packed < len(from.ring)-s.newest; from.packed++ {
		switch e := from.ring[from.packed]; {
		case !s.spilled.on || e.collected:
			s.pack(e)
		case e.cursor > s.spilled.durable:
			return
		default:
			s.leave(e)
		}
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
	if !e.collected || c == nil {
		s.journal.acknowledged(e)
	}
	if e.record != nil {
		s.records.Put(e.record)
	}
	if !e.collected {
		s.waiting--
		s.expired++
		s.hold(c, func() { c.queue = c.queue[1:] }) // the oldest record is the client's oldest
	}
	if c != nil && c.held() == 0 && c.last == e.cursor {
		delete(s.clients, c.name)
	}
	*e = ended{}
	s.spare.Put(e)
}

// Collect acknowledges a client's records up to q.After, and appends up to q.Max further ones to into, which it
// returns with the cursor to acknowledge next. The cursor of another process acknowledges nothing: taking it
// would drop records unread. One of which nobody says whose it is, and that this process never handed out, is
// cluster.Invalid. With Config.Keeps the answer stands once [Replica.Wanted] names nothing.
func (r *Replica) Collect(into []cluster.TaskRecord, q *cluster.CollectRequest) ([]cluster.TaskRecord, int64, error) {
	after := q.After
	if q.Incarnation != 0 && q.Incarnation != r.Memory() {
		after = 0
	}
	if after < 0 || after > r.results.last {
		return nil, 0, cluster.Errorf(cluster.Invalid, "cursor %d was never handed out by this process of scheduler %s (newest: %d); start "+
			"from 0",
			after, r.cfg.Name, r.results.last)
	}
	r.results.spilled.wanted = nil
	records, cursor := r.results.collect(into, q.Client, after, q.Max)
	return records, cursor, nil
}
