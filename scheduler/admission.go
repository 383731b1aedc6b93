package scheduler

import (
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// mostHeld bounds the bytes of templates and of the entries of open tasks: beyond it nothing is taken.
const mostHeld = 512 << 20

// Denial is why a replica takes nothing now, whatever it is.
type Denial uint8

const (
	LeavingDenial     Denial = iota // it is shutting down
	PendingDenial                   // too many tasks have not ended
	CommandsDenial                  // their commands take too much memory
	NobodyDenial                    // no worker takes placements
	UncollectedDenial               // too many results of this client were not collected

	numDenials
)

var denialNames = [numDenials]string{"draining", "max_pending", "commands", "no_worker", "uncollected"}

func (d Denial) String() string { return denialNames[d] }

// Denials yields all of them.
func Denials() []Denial {
	return []Denial{LeavingDenial, PendingDenial, CommandsDenial, NobodyDenial, UncollectedDenial}
}

// How long a client is to stay away, by what is missing.
const (
	goneAfter    = time.Second            // what drains comes back as another process, if at all
	workersAfter = 250 * time.Millisecond // a worker registers, or returns
	roomAfter    = 100 * time.Millisecond // tasks end all the time, and results are collected
	mostAfter    = 2 * time.Second
)

// Admit tells whether the replica takes n more tasks of a user's client now; the error is cluster.Draining or
// cluster.Overloaded, and says when to come back: the more room is missing, the later.
func (r *Replica) Admit(user, client string, n int) error {
	missing := r.pending + n - r.cfg.MaxPending
	held, share, crowded := r.results.crowded(collector{user, client})
	switch {
	case r.draining:
		return r.deny(LeavingDenial, cluster.Draining, goneAfter, "scheduler %s is shutting down; submit to another", r.cfg.Name)
	case missing > 0:
		return r.deny(PendingDenial, cluster.Overloaded, min(mostAfter, roomAfter+time.Duration(missing-1)*time.Millisecond),
			"scheduler %s holds %d unfinished tasks (max_pending = %d); submit later or to another", r.cfg.Name, r.pending, r.cfg.MaxPending)
	case r.bytes+r.templates.bytes >= mostHeld:
		return r.deny(CommandsDenial, cluster.Overloaded, roomAfter,
			"scheduler %s holds %d MiB of commands (at most %d); submit later or to another", r.cfg.Name, (r.bytes+r.templates.bytes)>>20,
			mostHeld>>20)
	case len(r.view.candidates) == 0:
		return r.deny(NobodyDenial, cluster.Overloaded, workersAfter,
			"scheduler %s: no worker takes placements now (%d registered); submit later or to another", r.cfg.Name, len(r.nodes.byName))
	case crowded && held == 0:
		return r.deny(UncollectedDenial, cluster.Overloaded, roomAfter,
			"scheduler %s holds %d results that nobody collected, of %d clients (at most %d, with retain_results = %d); submit to another",
			r.cfg.Name, r.results.waiting, r.results.holders, mostClients, r.cfg.RetainResults)
	case crowded:
		return r.deny(UncollectedDenial, cluster.Overloaded, roomAfter,
			"scheduler %s holds %d results that nobody collected (retain_results = %d), and client %.80s has %d of them and of unfinished "+
				"tasks, where %d is its share; collect them first", r.cfg.Name, r.results.waiting, r.cfg.RetainResults, client, held, share)
	}
	return nil
}

func (r *Replica) deny(why Denial, code cluster.ErrorCode, after time.Duration, format string, args ...any) error {
	r.stats.Denied[why]++
	return cluster.Later(code, after, format, args...)
}

// Submit accepts a task and places it from the cached view, or refuses it with the reason. An accepted
// task reaches exactly one terminal state, which its client can collect.
func (r *Replica) Submit(now time.Duration, client string, s *cluster.TaskSpec) (*Actions, *cluster.Refusal) {
	return r.SubmitJob(now, nil, client, s)
}

// SubmitJob is Submit for a task of a job. Without a client nobody collects its result; the job tells of it.
func (r *Replica) SubmitJob(now time.Duration, j *cluster.Job, client string, s *cluster.TaskSpec) (*Actions, *cluster.Refusal) {
	r.begin()
	refusal := r.accept(now, j, client, s)
	if refusal != nil {
		r.stats.Refused++
		r.stats.Refusals[refusal.Code]++
	}
	return &r.actions, refusal
}

func (r *Replica) accept(now time.Duration, j *cluster.Job, client string, s *cluster.TaskSpec) *cluster.Refusal {
	if r.holds(s.ID) {
		return refuse(s.ID, cluster.DuplicateTask, "scheduler %s already has a task with this id", r.cfg.Name)
	}
	b, refusal := r.batchOf(j, client, s)
	if refusal != nil {
		return refusal
	}
	t := r.spare.Take()
	*t = task{batch: b, phase: cluster.Placing, node: NoNode, received: now,
		spec: cluster.Task{ID: s.ID, Seed: cluster.HashID(s.ID), Kind: &b.Kind}}
	if s.Command != nil {
		t.index, t.entries = s.Command.Index, packEntries(s.Command.Entries)
	}
	r.hold(t)
	if !r.decide(now, t) {
		r.drop(t)
		r.experience.drop(b.named)
		return r.infeasible(t)
	}
	r.opened(t)
	return nil
}

// hold makes a task known by its id, and drop forgets it.
func (r *Replica) hold(t *task) {
	r.tasks[t.spec.ID] = t
	r.listing.Add(t)
}

func (r *Replica) drop(t *task) {
	delete(r.tasks, t.spec.ID)
	r.listing.Remove(t)
}

// opened books a task that was accepted, or runs again.
func (r *Replica) opened(t *task) {
	r.pending++
	r.results.opened(t.batch.collector())
	r.bytes += len(t.entries)
	t.batch.template.retain()
	r.journal.keepTemplate(t.batch.template)
	r.experience.retain(t.batch)
	if t.batch.job != nil {
		r.jobs.opened(t)
	}
	r.journal.changed(t)
}

// batchOf returns what a task shares with those that are alike.
func (r *Replica) batchOf(j *cluster.Job, client string, s *cluster.TaskSpec) (*batch, *cluster.Refusal) {
	if s.Command == nil {
		if j != nil {
			return nil, refuse(s.ID, cluster.InvalidTask, "a task of job %s has to bring a command", j.ID)
		}
		b := r.batches.Take()
		*b = batch{client: client, user: r.word(s.User)}
		return b, r.resolve(s, b)
	}
	user := r.word(s.User)
	shared, refusal := r.jobs.find(j, user, s)
	if refusal != nil {
		return nil, refusal
	}
	fresh := batch{lists: len(s.Command.Entries), client: client, user: user, job: shared, template: r.templates.find(s.Command)}
	if fresh.template == nil {
		return nil, refuse(s.ID, cluster.UnknownTemplate, "scheduler %s does not know template %.80s (any more): send it along", r.cfg.Name,
			s.Command.Digest)
	}
	fresh.bar = r.templates.barFor(fresh.template, user)
	if refusal := r.resolve(s, &fresh); refusal != nil {
		return nil, refusal
	}
	return alike(r.latestOf(shared), &fresh), nil
}

// word is a user's name, one copy of it for all: there are as many as there are people.
func (r *Replica) word(user string) string {
	known, ok := r.users[user]
	if !ok {
		known = strings.Clone(user)
		r.users[known] = known
	}
	return known
}

// latestOf is where the batch of the latest task of a job is, or of no job.
func (r *Replica) latestOf(j *job) **batch {
	if j == nil {
		return &r.latest
	}
	return &j.latest
}

// alike returns the latest batch of commands if it is the same as a fresh one, which takes its place otherwise.
func alike(latest **batch, fresh *batch) *batch {
	if *latest == nil || !(*latest).same(fresh) {
		fresh.Barred = &fresh.bar.nodes
		*latest = &batch{}
		**latest = *fresh
	}
	return *latest
}

// same reports whether tasks of two batches with commands are alike.
func (b *batch) same(o *batch) bool {
	return b.template == o.template && b.job == o.job && b.client == o.client && b.user == o.user && b.lists == o.lists &&
		b.Uniform == o.Uniform && b.Says == o.Says && b.Learned == o.Learned && b.Mode == o.Mode && b.AtMostOnce == o.AtMostOnce &&
		b.TimeScale == o.TimeScale && b.auto == o.auto
}

// holds reports whether a task is here, or was.
func (r *Replica) holds(id string) bool {
	if _, live := r.tasks[id]; live {
		return true
	}
	return r.results.byID[id] != nil
}
