package scheduler

import (
	"sort"

	"dodoor/internal/cluster"
)

// Query returns the state of one task, of some, or of a page of tasks, as far as the asker sees them: those that have not ended, and then,
// or alone if that is asked, those that have, the newest first. What ends between two pages may come twice. A page behind an ended task
// that was forgotten meanwhile is empty: what is older is forgotten as well. With Config.Keeps the answer stands once [Replica.Wanted]
// names nothing.
func (r *Replica) Query(q cluster.TaskQuery) []cluster.TaskStatus {
	r.results.spilled.wanted = nil
	p := page{r: r, by: q.For, most: q.Max, job: q.Job}
	switch {
	case q.ID != "":
		p.most, p.job = 1, ""
		p.named(q.ID)
	case len(q.IDs) > 0:
		p.most, p.job = len(q.IDs), ""
		for _, id := range q.IDs {
			if !p.named(id) {
				break
			}
		}
	case q.Ended:
		p.ended(q.After)
	default:
		if p.open(q.After) {
			p.ended("")
		}
	}
	return p.list
}

// page is an answer that is being written.
type page struct {
	r    *Replica
	by   cluster.Asker
	most int
	job  string // its tasks alone; empty: all
	list []cluster.TaskStatus
	size int
}

// add reports whether there is room for more.
func (p *page) add(s cluster.TaskStatus, size int) (more bool) {
	p.list = append(p.list, s)
	p.size += size
	return len(p.list) < p.most && p.size < pageBytes
}

func (p *page) addOpen(t *task) (more bool) {
	s := p.r.status(t)
	return p.add(s, s.Size())
}

func (p *page) addEnded(e *ended) (more bool) {
	s, size := p.r.endedStatus(e), int(e.size)
	if !e.absent {
		size = s.Size()
	}
	return p.add(s, size)
}

func (p *page) named(id string) (more bool) {
	if t := p.r.seen(p.by, id); t != nil {
		return p.addOpen(t)
	}
	if e := p.r.results.seen(p.by, id); e != nil {
		return p.addEnded(e)
	}
	return true
}

func (p *page) open(after string) (more bool) {
	if p.most < 1 {
		return false
	}
	for t := range p.r.listing.Behind(after) {
		if p.by.Sees(t.batch.user) && (p.job == "" || t.batch.job != nil && t.batch.job.ID == p.job) && !p.addOpen(t) {
			return false
		}
	}
	return true
}

func (p *page) ended(after string) {
	before := p.r.results.last + 1
	if after != "" {
		e := p.r.results.seen(p.by, after)
		if e == nil {
			return
		}
		before = e.cursor
	}
	if p.most < 1 {
		return
	}
	newest(&p.r.results.claimed, &p.r.results.others, before, func(e *ended) bool {
		ranAgain := p.r.results.byID[e.id] != e || p.r.tasks[e.id] != nil // its other record is told, which is the one found by its id
		return ranAgain || !p.by.Sees(e.user) || p.job != "" && e.in.job != p.job || p.addEnded(e)
	})
}

// newest calls yield for the tasks of two shelves that ended before a cursor, the one that ended last first, until that returns
// false.
func newest(a, b *shelf, before int64, yield func(*ended) bool) {
	for i, j := a.below(before), b.below(before); i > 0 || j > 0; {
		var e *ended
		if j == 0 || i > 0 && a.ring[i-1].cursor > b.ring[j-1].cursor {
			i--
			e = a.ring[i]
		} else {
			j--
			e = b.ring[j]
		}
		if !yield(e) {
			return
		}
	}
}

// below is how many of a shelf ended before a cursor.
func (s *shelf) below(cursor int64) int {
	return sort.Search(len(s.ring), func(i int) bool { return s.ring[i].cursor >= cursor })
}

func (t *task) inJob() inJob {
	if t.batch.job == nil {
		return inJob{}
	}
	return inJob{t.batch.job.ID, t.index}
}

func (r *Replica) status(t *task) cluster.TaskStatus {
	s := cluster.TaskStatus{ID: t.spec.ID, Type: t.spec.Type, Mode: t.spec.Mode, Phase: t.phase, Node: r.workers.name(t.worker),
		Scheduler: r.cfg.Name, Attempt: int(t.attempts), User: t.batch.user}
	in := t.inJob()
	s.Job, s.Index = in.job, in.index
	return s
}

// endedStatus asks for the record when it is in the journal alone: then it is not in the status yet.
func (r *Replica) endedStatus(e *ended) cluster.TaskStatus {
	if e.absent {
		r.results.want(e)
		return e.status(r.cfg.Name, &cluster.TaskRecord{ID: e.id})
	}
	record := e.fetch() // the original's memory is used again
	return e.status(r.cfg.Name, &record)
}

func (e *ended) status(scheduler string, record *cluster.TaskRecord) cluster.TaskStatus {
	return cluster.TaskStatus{ID: record.ID, Type: record.Type, Mode: record.Mode, Phase: cluster.Ended,
		Node: record.Worker, Scheduler: scheduler, Job: e.in.job, Index: e.in.index, Attempt: record.Attempts, User: e.user, Record: record}
}
