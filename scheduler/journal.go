package scheduler

import (
	"time"
)

// Change is one change of what a replica must not forget: a key and its new value.
type Change struct {
	Key   string
	Value []byte // nil: the key goes; valid until the next call of Changes
	All   bool   // with a nil Value: every key that begins with Key goes
}

// journal is what a replica that keeps has to tell of. Positions count changes: what depends on one, such as a placement on its
// way, waits until its position is durable. A task may change several times between two groups of changes; the group
// then has its newest state.
type journal struct {
	on          bool
	position    int64 // after the newest change
	durable     int64
	changes     []Change
	open        []string // tasks that have changed, by id
	jobs        []*job   // likewise
	lineage     int64    // incarnation of the first process
	incarnation int64    // of this one
	ceiling     int64    // no number that is given is above it, nor a cursor
	ran         int64    // nanoseconds that earlier processes ran, up to the last end of a task

	packer  packer // its bytes are the values of changes
	told    []byte // the values of the last group
	scratch openTask
}

// mostSpare bounds the memory that a group leaves to later ones: a burst is over some day.
const mostSpare = 1 << 20

// Changes appends what has changed since the last call to into, in order. upTo is the position after the last of them, to be
// given to [Replica.Synced] when all of them are durable. They belong together: after a crash all of them are there, or none.
func (r *Replica) Changes(into []Change) (changes []Change, upTo int64) {
	j := &r.journal
	for _, changed := range j.jobs {
		if changed.unkept = false; r.jobs.byID[changed.ID] == changed {
			r.putJob(changed)
		}
	}
	for _, id := range j.open {
		if t := r.tasks[id]; t != nil && t.unkept {
			t.unkept = false
			r.putTask(t)
		}
	}
	changes = append(into, j.changes...)
	clear(j.changes)
	clear(j.open)
	clear(j.jobs)
	j.changes, j.open, j.jobs = j.changes[:0], j.open[:0], j.jobs[:0]
	j.told, j.packer.bytes = j.packer.bytes, j.told[:0]
	if cap(j.packer.bytes) > mostSpare {
		j.packer.bytes = nil
	}
	r.results.spilled.handed(j.position, r.results.last)
	return changes, j.position
}

// Synced says that all changes up to a position that Changes gave are durable. Streams whose placements waited for that have
// more to send then: ask [Delivery.Next].
func (r *Replica) Synced(upTo int64) {
	r.journal.durable = max(r.journal.durable, upTo)
	r.results.spilled.synced(upTo)
}

// Recorded is the position after the newest change: an answer that tells of it has to wait until that is durable.
func (r *Replica) Recorded() int64 { return r.journal.position }

// Memory is the incarnation that cursors are of: that of this process, or of the first one of what it keeps.
func (r *Replica) Memory() int64 {
	if r.journal.on {
		return r.journal.lineage
	}
	return r.cfg.Incarnation
}

// begins opens the journal of a process that goes on from what an earlier one has told of it.
func (r *Replica) begins(m keptMeta) {
	j := &r.journal
	if j.on = r.cfg.Keeps; !j.on {
		return
	}
	j.lineage, j.incarnation, j.ceiling = m.lineage, r.cfg.Incarnation, m.ceiling+ceilingStep
	j.putMeta()
}

// changed notes that a task is not any more as it was told of.
func (j *journal) changed(t *task) {
	if !j.on {
		return
	}
	j.position++
	if !t.unkept {
		t.unkept = true
		j.open = append(j.open, t.spec.ID)
	}
}

// job notes the same of a job.
func (j *journal) job(changed *job) {
	if !j.on || changed.made == nil {
		return
	}
	j.position++
	if !changed.unkept {
		changed.unkept = true
		j.jobs = append(j.jobs, changed)
	}
}

// put tells of a key's new value, which fill packs.
func (j *journal) put(key string, fill func(p *packer)) {
	start := len(j.packer.bytes)
	version := layout
	integer(&j.packer, &version)
	fill(&j.packer)
	end := len(j.packer.bytes)
	j.position++
	j.changes = append(j.changes, Change{Key: key, Value: j.packer.bytes[start:end:end]})
}

// drop tells that a key has gone.
func (j *journal) drop(key string) {
	j.position++
	j.changes = append(j.changes, Change{Key: key})
}

// ceilingStep is how many numbers are reserved in one go.
const ceilingStep = 1 << 20

// reserve sees to it that no later process gives a number again, or a cursor.
func (j *journal) reserve(number int64) {
	if j.on && number > j.ceiling {
		j.ceiling = number + ceilingStep
		j.putMeta()
	}
}

// unix is a moment of this process on the clock that all processes share, in nanoseconds.
func (r *Replica) unix(at time.Duration) int64 { return r.cfg.Epoch + int64(at) }

// since is the inverse of unix for what was before this process began: it is not after that, wherever a clock was set back to.
// What lies too far back was told by a clock that was wrong, or this one is: then it was just now, and nothing is forgotten for it.
func (r *Replica) since(unix int64) time.Duration {
	if at := time.Duration(unix - r.cfg.Epoch); at < 0 && at > -longAgo {
		return at
	}
	return 0
}

// longAgo is far longer than anything is kept or a scheduler is away, and far shorter than a clock is wrong that was never set.
const longAgo = 5 * 365 * 24 * time.Hour

// closed notes that a task has ended.
func (j *journal) closed(t *task) {
	if j.on {
		t.unkept = false
		j.drop(taskKey(t.spec.ID))
	}
}

// dropped notes that a job is forgotten.
func (j *journal) dropped(forgotten *job) {
	if j.on {
		j.drop(jobKey(forgotten.ID))
		j.position++
		j.changes = append(j.changes, Change{Key: entriesKey(forgotten.ID), All: true})
	}
}

// reopened notes that a task of a job runs again.
func (j *journal) reopened(of *job, index int64) {
	if j.on {
		j.drop(entryKey(of.ID, index))
	}
}

// acknowledged notes that nobody needs a result any more.
func (j *journal) acknowledged(e *ended) {
	if j.on {
		j.drop(resultKey(e.cursor))
	}
}
