package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

func (j *journal) putMeta() {
	m := keptMeta{j.lineage, j.incarnation, j.ceiling}
	j.put(keyMeta, func(p *packer) { p.meta(&m) })
}

// putTask tells how an open task stands.
func (r *Replica) putTask(t *task) {
	k := &r.journal.scratch
	earlier := k.earlier[:0]
	*k = openTask{batch: keep(t.batch), index: t.index, entries: string(t.entries), received: r.unix(t.received), view: t.view,
		attempts: t.attempts, attempt: t.spec.Attempt, reckon: int64(t.spec.Reckon), cancel: t.cancel,
		held: t.phase == cluster.Sent || t.phase == cluster.Accepted}
	if t.worker != 0 {
		k.latest = r.keptPlacement(r.placed(t))
	}
	if x := t.trouble; x != nil {
		for _, p := range x.earlier {
			earlier = append(earlier, r.keptPlacement(p))
		}
		k.refusals, k.losses, k.failures, k.reason, k.requested = x.refusals, x.losses, x.failures, x.reason, x.requested
	}
	k.earlier = earlier
	r.journal.put(taskKey(t.spec.ID), func(p *packer) { p.open(k) })
}

func (r *Replica) keptPlacement(p placedOn) openPlacement {
	return openPlacement{r.workers.name(p.worker), r.catalog.ClassName(r.workers.class(p.worker)), p.incarnation, p.number, p.limit}
}

// keepWorker tells of a worker when something is placed there for the first time.
func (r *Replica) keepWorker(n *node) {
	if r.journal.on && !n.kept {
		n.kept = true
		r.journal.put(workerKey(n.Name), func(p *packer) { p.worker(&n.Node) })
	}
}

// keepPlacement tells of a task's new placement.
func (r *Replica) keepPlacement(n *node, t *task) {
	r.journal.reserve(t.number)
	r.keepWorker(n)
	r.journal.changed(t)
}

// keepTemplate tells of a template when something refers to it for the first time.
func (j *journal) keepTemplate(t *template) {
	if j.on && t != nil && !t.kept {
		t.kept = true
		j.put(templateKey(t.digest), func(p *packer) { p.template(t.shared) })
	}
}

// keepResult tells of a task that has ended.
func (r *Replica) keepResult(now time.Duration, client string, in inJob, cursor int64, record *cluster.TaskRecord) {
	if !r.journal.on {
		return
	}
	r.journal.reserve(cursor)
	k := keptResult{client: client, in: in, at: r.journal.ran + int64(now), record: *record}
	k.record.Received = time.Duration(r.unix(record.Received))
	r.journal.put(resultKey(cursor), func(p *packer) { p.result(&k) })
}

func (r *Replica) putJob(j *job) {
	k := keptJob{Job: j.Job, retried: j.retried, fails: j.fails, why: j.why, sweeping: j.sweeping, sweep: j.sweep,
		until: r.unix(j.until), retrying: j.retrying, retry: j.retry}
	if j.last != 0 {
		k.last = r.unix(j.last)
	}
	r.journal.put(jobKey(j.ID), func(p *packer) { p.job(&k) })
}

// keepEntry tells of a task of a job that has ended.
func (r *Replica) keepEntry(j *job, index int64) {
	if !r.journal.on {
		return
	}
	_, e := j.find(index)
	k := keptEntry{entry: *e, id: j.ids.byIndex[index], worker: r.workers.name(e.worker)}
	if e.worker != 0 {
		k.class = r.catalog.ClassName(r.workers.class(e.worker))
	}
	if a, again := j.again[index]; again {
		k.again, k.batch, k.entries = true, keep(a.batch), string(a.entries)
	}
	r.journal.put(entryKey(j.ID, index), func(p *packer) { p.entry(&k) })
}
