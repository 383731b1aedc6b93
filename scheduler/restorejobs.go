package scheduler

import (
	"cmp"
	"slices"
	"strings"

	"dodoor/internal/cluster"
)

// restoreJobs makes the jobs again, without their tasks.
func (x *restorer) restoreJobs() {
	r := x.r
	slices.SortFunc(x.jobs, func(a, b keptJob) int {
		return cmp.Or(cmp.Compare(a.Submitted, b.Submitted), strings.Compare(a.ID, b.ID))
	})
	for i := range x.jobs {
		k := &x.jobs[i]
		j := &job{Job: k.Job, retried: k.retried, fails: k.fails, why: k.why, sweeping: k.sweeping, sweep: k.sweep,
			until: r.since(k.until), retrying: k.retrying, retry: k.retry}
		j.User = r.word(j.User)
		if k.last != 0 {
			j.last = r.since(k.last)
		}
		j.made = r.jobs.made.PushBack(j)
		r.jobs.byID[j.ID] = j
		if j.sweeping {
			r.jobs.sweeping = append(r.jobs.sweeping, j)
		}
		if j.retrying {
			r.jobs.retrying = append(r.jobs.retrying, j)
		}
	}
}

// restoreEntries fills the ledgers with the tasks that have ended.
func (x *restorer) restoreEntries() error {
	slices.SortFunc(x.entries, byKey)
	for _, p := range x.entries {
		if err := x.entry(p); err != nil {
			return err
		}
	}
	return nil
}

func (x *restorer) entry(p pair) error {
	r := x.r
	var k keptEntry
	if err := unpackValue(p.key, p.value, func(p *packer) { p.entry(&k) }); err != nil {
		return err
	}
	id, index, ok := entryOf(p.rest)
	j := r.jobs.byID[id]
	if !ok || j == nil || index < 0 || k.outcome == cluster.NoOutcome || k.outcome > cluster.Lost || k.attempts < 0 {
		return broken(p.key, "task %d of job %.80q, outcome %d after %d attempts", index, id, k.outcome, k.attempts)
	}
	if _, e := j.find(index); e != nil {
		return broken(p.key, "job %.80q has another task with index %d", id, index)
	}
	j.insert(index)
	k.entry.index = index
	if k.worker != "" {
		k.entry.worker = r.workers.id(x.word(k.worker), r.catalog.Class(x.word(k.class)))
	}
	j.set(k.entry)
	j.outcomes[k.outcome]++
	r.jobs.kept++
	if k.id != "" {
		j.ids.add(j.ID, index, strings.Clone(k.id))
	}
	if !k.again {
		return nil
	}
	if !entries(k.entries).are(k.batch.lists) || k.batch.job != j.ID || k.batch.client != "" {
		return broken(p.key, "it would run again as a task of job %.80q with %d entries", k.batch.job, k.batch.lists)
	}
	b, err := x.batch(p.key, j.taskID(index), &k.batch)
	if err != nil {
		return err
	}
	latest := x.again[j]
	b = alike(&latest, b)
	x.again[j] = latest
	r.jobs.keepAgain(j, index, again{b, entries(strings.Clone(k.entries))})
	return nil
}

// closeJobs puts the jobs aside that have no open task, in the order in which they ended.
func (x *restorer) closeJobs() {
	s := &x.r.jobs
	var over []*job
	for e := s.made.Front(); e != nil; e = e.Next() {
		if j := e.Value.(*job); j.open == 0 {
			over = append(over, j)
		}
	}
	slices.SortStableFunc(over, func(a, b *job) int { return cmp.Compare(a.last, b.last) })
	for _, j := range over {
		j.over = s.over.PushBack(j)
		s.kept += jobWeight
	}
}
