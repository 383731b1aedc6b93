package scheduler

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// The events of jobsOracle, and what has to hold after each of them.

func (o *jobsOracle) submit() {
	j, t := rapid.SampledFrom(o.jobs).Draw(o.T, "job"), rapid.SampledFrom(o.templates).Draw(o.T, "template")
	index := rapid.Int64Range(0, 20).Draw(o.T, "index")
	spec := commandOf(j.ID, index, t, t.Digest())
	if rapid.Bool().Draw(o.T, "by another name") {
		spec.ID = fmt.Sprintf("%s-%d", j.ID, index)
	}
	spec.AtMostOnce = rapid.IntRange(0, 5).Draw(o.T, "once") == 0
	known := o.taken(j.ID, index)
	actions, refusal := o.r.SubmitJob(o.now, &j, "client", spec)
	switch {
	case refusal == nil && known:
		o.Fatalf("task %d of job %s is accepted twice", index, j.ID)
	case refusal == nil:
		o.accepted[spec.ID] = j.ID
		delete(o.attempts, spec.ID)
		delete(o.failures, spec.ID)
	}
	o.perform(actions)
}

// taken reports whether a job has a task of an index.
func (o *jobsOracle) taken(job string, index int64) bool {
	for _, id := range []string{fmt.Sprintf("%s.%d", job, index), fmt.Sprintf("%s-%d", job, index)} {
		if o.accepted[id] != "" {
			return true
		}
	}
	return false
}

// dispatch draws one that was sent, however long ago; nil: there is none.
func (o *jobsOracle) dispatch() *Dispatch {
	if len(o.sent) == 0 {
		return nil
	}
	recent := max(0, len(o.sent)-10)
	return &o.sent[rapid.IntRange(rapid.SampledFrom([]int{0, recent}).Draw(o.T, "oldest"), len(o.sent)-1).Draw(o.T, "dispatch")]
}

func (o *jobsOracle) answer() {
	d := o.dispatch()
	if d == nil {
		return
	}
	reply := &cluster.EnqueueReply{}
	code := rapid.SampledFrom([]cluster.RefusalCode{0, 0, 0, cluster.QueueFull, cluster.NeverFits, cluster.UnknownTemplate,
		cluster.NotAllowed}).Draw(o.T, "answer")
	if code != 0 {
		reply.Refused = []cluster.Refusal{{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number, Code: code, Message: "no"}}
	}
	current := o.r.current(d) != nil
	if current && code == cluster.NotAllowed {
		o.barred[o.onProcess(d)] = o.now
	}
	o.perform(o.r.Acknowledged(o.now, []Dispatch{*d}, reply))
}

func (o *jobsOracle) onProcess(d *Dispatch) string {
	return fmt.Sprintf("%s on %d of %d", d.Assignment.Command.Digest, d.NodeIncarnation, d.Node)
}

func (o *jobsOracle) end() {
	d := o.dispatch()
	if d == nil {
		return
	}
	outcome := rapid.SampledFrom([]cluster.Outcome{cluster.Finished, cluster.Failed, cluster.Failed, cluster.TimedOut, cluster.Cancelled,
		cluster.Lost}).Draw(o.T, "outcome")
	id := d.Assignment.TaskID
	if t := o.r.tasks[id]; t != nil && (outcome == cluster.Failed || outcome == cluster.TimedOut) {
		if _, ours := o.r.placement(t, o.r.Node(d.Node).Name, d.NodeIncarnation, d.Assignment.Number); ours {
			o.failures[id]++
		}
	}
	o.complete(d, outcome)
}

// complete is a worker's notice.
func (o *jobsOracle) complete(d *Dispatch, outcome cluster.Outcome) {
	actions, err := o.r.Completed(o.now, &cluster.CompletionNotice{Node: o.r.Node(d.Node).Name, NodeIncarnation: d.NodeIncarnation,
		SchedulerIncarnation: testIncarnation, Completions: []cluster.Completion{{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number,
			Outcome: outcome, Run: time.Second}}})
	if err != nil {
		o.Fatal(err)
	}
	o.perform(actions)
}

// perform takes what was sent and what has ended.
func (o *jobsOracle) perform(actions *Actions) {
	for _, d := range actions.Send {
		if d.Assignment.TaskID == "" {
			continue
		}
		a := &d.Assignment
		if a.Attempt <= o.attempts[a.TaskID] {
			o.Fatalf("task %s: attempt %d after %d", a.TaskID, a.Attempt, o.attempts[a.TaskID])
		}
		if since, barred := o.barred[o.onProcess(&d)]; barred && o.now-since < barredFor {
			o.Fatalf("task %s goes to node %d, which does not allow it", a.TaskID, d.Node)
		}
		o.attempts[a.TaskID] = a.Attempt
		o.sent = append(o.sent, d)
	}
	records, cursor, err := o.r.Collect(nil, &cluster.CollectRequest{Client: "client", After: o.cursor, Max: 1 << 20})
	if err != nil {
		o.Fatal(err)
	}
	o.cursor = cursor
	for i := range records {
		id := records[i].ID
		if _, again := o.ended[id]; again || o.accepted[id] == "" {
			o.Fatalf("task %s ends as %v, and had ended", id, records[i].Outcome)
		}
		o.ended[id] = records[i].Outcome
	}
	for id := range o.again { // nobody collects these
		if s := o.r.Query(cluster.TaskQuery{ID: id}); len(s) == 1 && s[0].Phase == cluster.Ended {
			o.ended[id] = s[0].Record.Outcome
			delete(o.again, id)
		}
	}
}

// check compares what the replica says of its jobs with what is known from outside.
func (o *jobsOracle) check() {
	o.checkKept()
	pending, references := 0, map[*template]int{}
	for _, t := range o.r.tasks {
		references[t.batch.template]++
	}
	for _, j := range o.jobs {
		var want cluster.JobStatus
		for id, of := range o.accepted {
			if of == j.ID {
				want.Accepted++
				want.Outcomes[o.ended[id]]++
			}
			if o.failures[id] > j.Retries+1 && of == j.ID {
				o.Fatalf("task %s failed %d times, %d retries are allowed", id, o.failures[id], j.Retries)
			}
		}
		open := want.Outcomes[cluster.NoOutcome]
		want.Outcomes[cluster.NoOutcome] = 0
		pending += int(open)
		var got cluster.JobStatus
		if list := o.r.Jobs(&cluster.JobQuery{ID: j.ID}); len(list) > 0 {
			got = list[0]
		}
		if got.Accepted != want.Accepted || got.Outcomes != want.Outcomes || got.Open() != open ||
			o.r.JobOpen(cluster.Everybody, j.ID) != (open > 0) {
			o.Fatalf("job %s: %+v, want %+v, %d open", j.ID, got, want, open)
		}
		o.checkTasks(j.ID, int(want.Accepted))
		if known := o.r.jobs.byID[j.ID]; known != nil {
			for _, a := range known.again {
				references[a.batch.template]++
			}
		}
	}
	if o.r.Pending() != pending || len(o.r.tasks) != pending {
		o.Fatalf("%d tasks pending, want %d", o.r.Pending(), pending)
	}
	for t, n := range references {
		if t.refs != n || o.r.templates.byDigest[t.digest] != t {
			o.Fatalf("template %.8s has %d references, want %d", t.digest, t.refs, n)
		}
	}
}

// checkTasks reads a job's tasks page by page: every one is there once, in order, and says how it ended.
func (o *jobsOracle) checkTasks(job string, want int) {
	n, bad, last := 0, 0, int64(-1)
	for page := o.page(job, 0); len(page) > 0; page = o.page(job, last+1) {
		for _, t := range page {
			if o.accepted[t.ID] != job || t.Index <= last || t.Outcome != o.ended[t.ID] {
				o.Fatalf("job %s has task %+v after %d; it ended as %v", job, t, last, o.ended[t.ID])
			}
			last = t.Index
			n++
			if t.Outcome > cluster.Finished {
				bad++
			}
		}
	}
	if unsuccessful := o.r.JobTasks(&cluster.JobTaskQuery{Job: job, Max: 100, Unsuccessful: true}); n != want || len(unsuccessful) != bad {
		o.Fatalf("job %s: %d tasks, want %d; %d ended otherwise than well, want %d", job, n, want, len(unsuccessful), bad)
	}
}

func (o *jobsOracle) page(job string, from int64) []cluster.JobTask {
	return o.r.JobTasks(&cluster.JobTaskQuery{Job: job, From: from, Max: 3})
}

// settle lets everything end: then nothing is open, and once the jobs are forgotten nothing is kept.
func (o *jobsOracle) settle() {
	for _, j := range o.jobs {
		o.ofJob("cancel", j.ID)
	}
	for range 4 {
		o.now += 3 * time.Second
		o.perform(o.r.Tick(o.now))
		for i := range o.sent {
			if d := &o.sent[i]; o.r.current(d) != nil {
				o.perform(o.r.Acknowledged(o.now, []Dispatch{*d}, &cluster.EnqueueReply{}))
			}
			if t := o.r.tasks[o.sent[i].Assignment.TaskID]; t != nil {
				o.complete(&o.sent[i], cluster.Cancelled)
			}
		}
	}
	o.check()
	if o.r.Pending() > 0 {
		o.Fatalf("%d tasks never end", o.r.Pending())
	}
	o.now += 25 * time.Hour
	o.perform(o.r.Tick(o.now))
	o.perform(o.r.Tick(o.now))
	if left := o.r.jobs.kept + o.r.jobs.bytes + o.r.bytes + o.r.templates.bytes + len(o.r.templates.bars) + o.r.cancelling; left != 0 ||
		len(o.r.jobs.byID) > 0 || len(o.r.templates.byDigest) > 0 {
		o.Fatalf("%d jobs, %d templates, and %d of what is counted are kept for ever", len(o.r.jobs.byID), len(o.r.templates.byDigest), left)
	}
}
