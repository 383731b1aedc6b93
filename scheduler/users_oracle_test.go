package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// usersOracle drives a replica for several people, and knows whose everything is. It is as dumb as can be.
type usersOracle struct {
	*rapid.T
	tb    testing.TB // of all runs
	r     *Replica
	disk  disk
	now   time.Duration
	tasks map[string]*usersTask
	jobs  map[string]string // whose they are
}

type usersTask struct {
	id, user, client, job string
	d                     Dispatch
	open, cancel          bool
	outcome               cluster.Outcome
	collected             bool
}

var askers = []cluster.Asker{{User: "alice"}, {User: "bob"}, {User: "carol", All: true}, {}}

func (o *usersOracle) asker() cluster.Asker { return rapid.SampledFrom(askers).Draw(o.T, "asker") }

// sent takes what a verb sends to workers, who take it.
func (o *usersOracle) sent(actions *Actions) {
	for _, d := range slices.Clone(actions.Send) {
		if t := o.tasks[d.Assignment.TaskID]; t != nil {
			if t.d = d; d.Assignment.User != t.user {
				o.Fatalf("task %s of %q is sent as one of %q", t.id, t.user, d.Assignment.User)
			}
		}
		acknowledge(o.r, o.now, d)
	}
}

func (o *usersOracle) submit(*rapid.T) {
	by, id := o.asker(), fmt.Sprint("t", rapid.IntRange(0, 9).Draw(o.T, "id"))
	spec := request(id, 0.001, 1, 1000)
	spec.User = by.User
	t := &usersTask{id: id, user: by.User, client: rapid.SampledFrom([]string{"c", "d"}).Draw(o.T, "client"), open: true}
	taken := o.tasks[id] != nil
	o.tasks[id] = cmpOr(o.tasks[id], t)
	actions, refusal := o.r.Submit(o.now, t.client, spec)
	if (refusal != nil) != taken || taken && refusal.Code != cluster.DuplicateTask {
		o.Fatalf("%s by %+v: %v", id, by, refusal)
	}
	o.sent(actions)
}

func cmpOr(known, fresh *usersTask) *usersTask {
	if known != nil {
		return known
	}
	return fresh
}

func (o *usersOracle) submitJob(*rapid.T) {
	by, job, index := o.asker(), rapid.SampledFrom([]string{"j", "k"}).Draw(o.T, "job"), rapid.Int64Range(0, 5).Draw(o.T, "index")
	template := programOf("x")
	spec := commandOf(job, index, template, template.Digest())
	spec.User = by.User
	owner, known := o.jobs[job]
	foreign, taken := known && owner != by.User, o.tasks[spec.ID] != nil
	if !taken && !foreign {
		o.tasks[spec.ID] = &usersTask{id: spec.ID, user: by.User, job: job, open: true}
		o.jobs[job] = by.User
	}
	actions, refusal := o.r.SubmitJob(o.now, &cluster.Job{ID: job, User: "somebody else"}, "", spec)
	if (refusal != nil) != (foreign || taken) {
		o.Fatalf("%s by %+v: %v; the job is %q's", spec.ID, by, refusal, owner)
	}
	o.sent(actions)
}

func (o *usersOracle) end(*rapid.T) {
	for _, id := range sortedKeys(o.tasks) {
		t := o.tasks[id]
		if !t.open || rapid.IntRange(0, 3).Draw(o.T, "ends") > 0 {
			continue
		}
		t.outcome = rapid.SampledFrom([]cluster.Outcome{cluster.Finished, cluster.Failed}).Draw(o.T, "outcome")
		if t.cancel {
			t.outcome = cluster.Cancelled
		}
		t.open = false
		o.sent(finish(o.tb, o.r, o.now, t.d, t.outcome))
	}
}

func (o *usersOracle) cancel(*rapid.T) {
	by, id := o.asker(), fmt.Sprint("t", rapid.IntRange(0, 9).Draw(o.T, "id"))
	t := o.tasks[id]
	want := t != nil && t.open && by.Sees(t.user)
	actions, found := o.r.Cancel(o.now, by, id)
	if found != want || len(actions.Cancel) > 0 && !found {
		o.Fatalf("%+v cancels %+v: %t", by, t, found)
	}
	if found {
		t.cancel = true
	}
}

func (o *usersOracle) job(*rapid.T) {
	by, job := o.asker(), rapid.SampledFrom([]string{"j", "k"}).Draw(o.T, "job")
	owner, known := o.jobs[job]
	seen := known && by.Sees(owner)
	var open, bad []*usersTask
	for _, id := range sortedKeys(o.tasks) {
		switch t := o.tasks[id]; {
		case t.job != job || !seen:
		case t.open:
			open = append(open, t)
		case t.outcome != cluster.Finished:
			bad = append(bad, t)
		}
	}
	switch rapid.IntRange(0, 2).Draw(o.T, "verb") {
	case 0:
		if _, n := o.r.CancelJob(o.now, by, job); n != int64(len(open)) {
			o.Fatalf("%+v cancels job %s of %q: %d", by, job, owner, n)
		}
		for _, t := range open {
			t.cancel = true
		}
	case 1:
		for _, t := range bad {
			t.open, t.cancel = true, false
		}
		actions, n, err := o.r.RetryJob(o.now, by, job)
		if n != int64(len(bad)) || errors.Is(err, cluster.UnknownTask) == seen {
			o.Fatalf("%+v has job %s of %q retried: %d of %d, %v", by, job, owner, n, len(bad), err)
		}
		o.sent(actions)
	case 2:
		gone, err := o.r.ForgetJob(by, job)
		if gone != (seen && len(open) == 0) || (err != nil) != (len(open) > 0) {
			o.Fatalf("%+v forgets job %s of %q: %t, %v", by, job, owner, gone, err)
		}
		if gone {
			delete(o.jobs, job)
			for _, t := range o.tasks {
				if t.job == job {
					t.job = "forgotten"
				}
			}
		}
	}
}

func (o *usersOracle) collect(*rapid.T) {
	by, name := o.asker(), rapid.SampledFrom([]string{"c", "d"}).Draw(o.T, "client")
	q := &cluster.CollectRequest{Client: name, Max: 100, For: by}
	records, cursor, err := o.r.Collect(nil, q)
	if err != nil {
		o.Fatal(err)
	}
	var got, want []string
	for _, record := range records {
		got = append(got, record.ID+" "+record.User)
	}
	for _, t := range o.tasks {
		if t.user == by.User && t.client == name && !t.open && !t.collected {
			want = append(want, t.id+" "+t.user)
			t.collected = true
		}
	}
	if slices.Sort(got); !slices.Equal(got, sorted(want)) {
		o.Fatalf("%+v collects %v as %s, want %v", by, got, name, want)
	}
	q.After = cursor
	if more, _, err := o.r.Collect(nil, q); len(more) > 0 || err != nil {
		o.Fatalf("%+v, %v", more, err)
	}
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// check has everybody look at everything.
func (o *usersOracle) check(*rapid.T) {
	o.now += time.Millisecond
	o.disk.sync(o.r)
	o.look(o.r, false)
	if rapid.IntRange(0, 9).Draw(o.T, "restored") == 0 {
		next := restored(o.tb, keeping(o.r.cfg, testIncarnation+1, time.Hour+o.now), paperPolicy(o.tb), o.disk)
		if problem := o.disk.differs(next, keyMeta); problem != "" {
			o.Fatal("restored: " + problem)
		}
		o.look(next, true)
	}
}

// look compares what everybody sees of a replica with whose it is. One that was restored has no records that were collected.
func (o *usersOracle) look(r *Replica, wasRestored bool) {
	for _, by := range askers {
		var want, got []string
		for _, id := range sortedKeys(o.tasks) {
			t := o.tasks[id]
			there := by.Sees(t.user) && (t.open || !t.collected || !wasRestored)
			if there {
				want = append(want, id+" "+t.user)
			}
			if one := r.Query(cluster.TaskQuery{ID: id, For: by}); (len(one) == 1) != there {
				o.Fatalf("%+v asks for %+v: %+v", by, t, one)
			}
		}
		for _, status := range r.Query(cluster.TaskQuery{Max: 1000, For: by}) {
			got = append(got, status.ID+" "+status.User)
		}
		if got = slices.Compact(sorted(got)); !slices.Equal(got, want) {
			o.Fatalf("%+v sees %v, want %v", by, got, want)
		}
		o.lookAtJobs(r, by)
	}
}

func (o *usersOracle) lookAtJobs(r *Replica, by cluster.Asker) {
	var want, got []string
	for _, job := range sortedKeys(o.jobs) {
		tasks, open := 0, false
		for _, t := range o.tasks {
			if t.job == job && by.Sees(t.user) {
				tasks, open = tasks+1, open || t.open
			}
		}
		if tasks > 0 {
			want = append(want, job+" "+o.jobs[job])
		}
		if list := r.JobTasks(&cluster.JobTaskQuery{Job: job, Max: 100, For: by}); len(list) != tasks || r.JobOpen(by, job) != open {
			o.Fatalf("%+v sees of job %s of %q: %+v", by, job, o.jobs[job], list)
		}
		if one := r.Jobs(&cluster.JobQuery{ID: job, For: by}); len(one) != min(tasks, 1) {
			o.Fatalf("%+v asks for job %s of %q: %+v", by, job, o.jobs[job], one)
		}
	}
	for _, j := range r.Jobs(&cluster.JobQuery{Max: 100, For: by}) {
		got = append(got, j.ID+" "+j.User)
	}
	if !slices.Equal(sorted(got), want) {
		o.Fatalf("%+v sees the jobs %v, want %v", by, got, want)
	}
}

// People who call their tasks, jobs and clients the same neither see nor touch what is another's, over a restart neither; an operator
// sees all.
func TestUsersDoNotMeet(tb *testing.T) {
	rapid.Check(tb, func(t *rapid.T) {
		o := &usersOracle{T: t, tb: tb, disk: disk{}, tasks: map[string]*usersTask{}, jobs: map[string]string{}}
		cfg := keeping(testConfig(), testIncarnation, time.Hour)
		cfg.RosterGrace = 0
		r, err := New(cfg, paperPolicy(tb))
		if err == nil {
			_, err = r.Push(0, snapshotOf(1, paperNodes(3), make([]cluster.Load, 3)))
		}
		if err != nil {
			t.Fatal(err)
		}
		o.r = r
		t.Repeat(map[string]func(*rapid.T){"submit": o.submit, "submit to a job": o.submitJob, "and more": o.submitJob, "end": o.end,
			"cancel": o.cancel, "job": o.job, "collect": o.collect, "": o.check})
	})
}
