package datastore

import "dodoor/internal/cluster"

// Bounds of what schedulers tell of run times, which is passed on to the others.
const (
	mostTold    = 32768 // entries kept, about 15 MB; the one that changed longest ago goes first
	perSnapshot = 1024  // entries in one snapshot, the oldest change first; the others wait for the next one
)

// told is what schedulers have told, each of a name on a class: of every entry the newest. An entry has one writer, who
// numbers it, so that deltas may be repeated, lost or overtaken.
type told struct {
	entries        map[toldOf]*entry
	oldest, newest *entry // by change
}

type toldOf struct{ scheduler, name, class string }

type entry struct {
	cluster.Experience
	changed      int64 // store version
	older, newer *entry
}

// tell takes what came with a delta.
func (s *Store) tell(d *cluster.Delta) {
	for i := range d.Experience {
		if e := s.told.merge(&d.Experience[i]); e != nil {
			s.version++
			e.changed = s.version
		}
	}
}

// merge returns the entry that something told is news of; nil: it is none.
func (t *told) merge(x *cluster.Experience) *entry {
	of := toldOf{x.Scheduler, x.Name, x.Class}
	e := t.entries[of]
	if e != nil && (x.Incarnation < e.Incarnation || x.Incarnation == e.Incarnation && x.Number <= e.Number) {
		return nil
	}
	if e == nil {
		e = &entry{}
		t.entries[of] = e
	} else {
		t.unlink(e)
	}
	e.Experience = *x
	e.older = t.newest
	if t.newest != nil {
		t.newest.newer = e
	} else {
		t.oldest = e
	}
	t.newest = e
	if len(t.entries) > mostTold {
		last := t.oldest
		t.unlink(last)
		delete(t.entries, toldOf{last.Scheduler, last.Name, last.Class})
	}
	return e
}

func (t *told) unlink(e *entry) {
	if e.older != nil {
		e.older.newer = e.newer
	} else {
		t.oldest = e.newer
	}
	if e.newer != nil {
		e.newer.older = e.older
	} else {
		t.newest = e.older
	}
	e.older, e.newer = nil, nil
}

// fill appends what changed after a version and is news to a scheduler, up to a bound. It returns the version up to which
// the scheduler then knows everything.
func (t *told) fill(into []cluster.Experience, r *replica, after int64) ([]cluster.Experience, int64) {
	first := t.newest
	for first != nil && first.older != nil && first.older.changed > after {
		first = first.older
	}
	for e := first; e != nil && len(into) < perSnapshot; e = e.newer {
		if e.changed <= after {
			continue
		}
		after = e.changed
		if e.Scheduler != r.Name || e.Incarnation < r.Incarnation {
			into = append(into, e.Experience)
		}
	}
	return into, after
}
