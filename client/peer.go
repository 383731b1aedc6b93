package client

import (
	"context"
	"time"

	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/job"
)

// pollPause is between two polls: ends gather, and nobody waits long for what a task printed.
const pollPause = 5 * time.Millisecond

// peer is one scheduler: what is on its way there, and the poll for its results.
type peer struct {
	drive.Target
	run   *submission
	index int
	posts chan *generator.Message // as many as there are connections
	polls chan generator.Poll
	known templates
}

func newPeer(r *submission, index int, target drive.Target) *peer {
	return &peer{Target: target, run: r, index: index, posts: make(chan *generator.Message, connections), polls: make(chan generator.Poll, 1)}
}

// serve submits and collects until the submission is over. Where nobody waits for ends there is nothing to collect, but
// whoever is polled is known to be gone, to be back, or to be another process that has nothing of the job.
func (p *peer) serve() {
	for range connections {
		p.run.all.Go(p.send)
	}
	p.run.all.Go(p.collect)
}

// send submits messages, one at a time.
func (p *peer) send() {
	r := p.run
	var tasks []cluster.TaskSpec
	for {
		var m *generator.Message
		select {
		case m = <-p.posts:
		case <-r.calls.Done():
			return
		}
		tasks = tasks[:0]
		for _, i := range m.Tasks {
			tasks = append(tasks, r.spec(r.Plan.At(int64(i))))
		}
		refused, err := p.submit(tasks)
		if r.calls.Err() != nil {
			return
		}
		r.step(func(now time.Duration) *generator.Actions {
			r.underWay--
			if err == nil {
				return r.client.Accepted(now, m, refused)
			}
			return r.client.Failed(now, m, drive.FailureOf(err), err)
		})
	}
}

// spec is a task as a scheduler is told of it, with its template.
func (r *submission) spec(t job.Task) cluster.TaskSpec {
	return cluster.TaskSpec{ID: job.TaskID(r.Job.ID, t.Index), Type: cluster.CommandType, Demand: t.Demand, Duration: t.Duration,
		LearnCores: t.LearnCores, LearnMemory: t.LearnMemory, AtMostOnce: r.AtMostOnce, TimeScale: 1,
		Command: &cluster.Command{Digest: t.Digest, Template: t.Template, Job: r.Job.ID, Index: t.Index, Entries: t.Entries}}
}

const (
	overloadPause = 100 * time.Millisecond // before a scheduler that takes nothing is asked again
	resends       = 50                     // of tasks whose template a scheduler does not know
)

// submit posts tasks, each template with the first that needs it. Those whose template the scheduler does not know (any
// more) are posted once more, with it.
func (p *peer) submit(tasks []cluster.TaskSpec) ([]cluster.Refusal, error) {
	refused, err := p.post(tasks, p.known.has)
	if err != nil {
		return nil, err
	}
	again, others := p.unknown(tasks, refused)
	for tries := 0; len(again) > 0; tries++ {
		refused, err = p.post(again, none) // whatever another message has found out meanwhile
		switch code := cluster.CodeOf(err); {
		case err == nil:
			return append(others, refused...), nil
		case code != cluster.Overloaded || tries == resends:
			return nil, err
		case !pause(p.run.calls, overloadPause):
			return nil, p.run.calls.Err()
		}
	}
	return others, nil
}

// none is what a scheduler has that may have forgotten everything.
func none(string) bool { return false }

// post is one message. Templates that the scheduler is known to have, by their digests, stay at home.
func (p *peer) post(tasks []cluster.TaskSpec, known func(digest string) bool) ([]cluster.Refusal, error) {
	riding := map[string]bool{}
	whole := make([]*cluster.Template, len(tasks))
	for i := range tasks {
		c := tasks[i].Command
		if whole[i] = c.Template; riding[c.Digest] || known(c.Digest) {
			c.Template = nil
		}
		riding[c.Digest] = true
	}
	r := p.run
	request := cluster.SubmitRequest{Tasks: tasks, Job: &r.Job}
	if r.Ended != nil {
		request.Client = r.Job.ID
	}
	refused, err := p.Service.Submit(r.calls, request)
	for i := range tasks {
		tasks[i].Command.Template = whole[i]
	}
	if err == nil {
		p.known.add(riding)
	}
	return refused, err
}

// unknown returns the tasks whose template the scheduler does not know, and the other refusals.
func (p *peer) unknown(tasks []cluster.TaskSpec, refused []cluster.Refusal) (again []cluster.TaskSpec, others []cluster.Refusal) {
	ids := map[string]bool{}
	for i := range refused {
		if refused[i].Code == cluster.UnknownTemplate {
			ids[refused[i].TaskID] = true
		} else {
			others = append(others, refused[i])
		}
	}
	for i := range tasks {
		if ids[tasks[i].ID] {
			p.known.remove(tasks[i].Command.Digest)
			again = append(again, tasks[i])
		}
	}
	return again, others
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
