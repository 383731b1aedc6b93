package generator

import (
	"maps"
	"slices"

	"dodoor/internal/cluster"
)

// server is a dumb scheduler, one process after the other: it takes what reaches it and remembers it. It ends
// no task before the first poll has reached it: nobody restarts, takes a task and ends it between two polls,
// which 20 ms are for.
type server struct {
	incarnation int64
	up          bool
	cut         bool // off from its client, and working on
	mood        Failure
	held        map[string]bool
	records     []cluster.TaskRecord
	told        int64 // records that reached the client
	keeps       bool  // its memory survives the process
	polled      bool
	broken      bool // the poll that it had before it went with the process
}

func (s *server) restart() {
	if s.keeps {
		s.up, s.cut, s.mood = true, false, Unanswered
		return
	}
	*s = server{incarnation: s.incarnation + 1, up: true, broken: s.broken, held: map[string]bool{}, mood: Unanswered}
}

// take is the handler of a submission: the refusals, or why nothing was taken.
func (s *server) take(ids []string) (refused []cluster.Refusal, f Failure, ok bool) {
	if s.mood != Unanswered {
		return nil, s.mood, false
	}
	if len(ids) > 1 && slices.ContainsFunc(ids, poisonous) || len(ids) == 1 && poisonous(ids[0]) {
		return nil, Faulty, false
	}
	for _, id := range ids {
		switch {
		case s.held[id]:
			refused = append(refused, cluster.Refusal{TaskID: id, Code: cluster.DuplicateTask})
		case id[0] == 'r':
			refused = append(refused, cluster.Refusal{TaskID: id, Code: cluster.NoFeasibleNode})
		default:
			s.held[id] = true
		}
	}
	return refused, 0, true
}

func poisonous(id string) bool { return id[0] == 'p' }

// finish ends a task that it holds.
func (s *server) finish(id string) {
	if s.polled && s.held[id] && !slices.ContainsFunc(s.records, func(r cluster.TaskRecord) bool { return r.ID == id }) {
		s.records = append(s.records, cluster.TaskRecord{ID: id, Outcome: cluster.Finished})
	}
}

// copied is what of a message is on the wire.
type copied struct {
	scheduler   int
	ids         []string
	incarnation int64
}

func (w *world) copied(m *Message) copied {
	c := copied{scheduler: m.Scheduler, incarnation: m.Incarnation}
	for _, i := range m.Tasks {
		c.ids = append(c.ids, w.ids[i])
	}
	return c
}

// arrive has a scheduler handle a message. It runs at once what it takes.
func (w *world) arrive(c copied) (refused []cluster.Refusal, f Failure, ok bool) {
	s := &w.servers[c.scheduler]
	if c.incarnation != 0 && c.incarnation != s.incarnation {
		return nil, Replaced, false
	}
	had := maps.Clone(s.held)
	refused, f, ok = s.take(c.ids)
	for id := range s.held {
		if !had[id] {
			if w.runs[id]++; w.runs[id] > 1 && id[0] == 'o' {
				w.Fatalf("task %s runs twice", id)
			}
		}
	}
	return refused, f, ok
}
