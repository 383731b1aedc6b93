package client

import (
	"errors"
	"fmt"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/job"
)

func (r *submission) now() time.Duration { return time.Since(r.start) }

// step calls one verb of the client, performs what it wants done, and feeds it. Nothing of that waits.
func (r *submission) step(verb func(now time.Duration) *generator.Actions) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wake := r.perform(verb(r.now()))
	for r.hungry() {
		wake = r.perform(r.client.Submit(r.now(), r.more()...))
	}
	if wake != generator.Never {
		r.alarm.Reset(wake - r.now())
	}
	if r.stopped && r.underWay == 0 && !r.isQuiet {
		r.isQuiet = true
		close(r.quiet)
	}
	if r.done() && !r.ended {
		r.ended = true
		close(r.over)
	}
}

// hungry reports whether the client should hear of more tasks.
func (r *submission) hungry() bool {
	if r.stopped || r.fed == r.Plan.Len() {
		return false
	}
	open, owed := r.client.Open(), r.client.Owed()
	return open-owed < backlog && (r.Ended == nil || open < r.limit)
}

// more announces the next tasks.
func (r *submission) more() []int32 {
	n := min(feed, r.Plan.Len()-r.fed)
	tasks := make([]int32, n)
	for k := range tasks {
		tasks[k] = r.client.Expect(job.TaskID(r.Job.ID, r.Plan.At(r.fed).Index))
		r.fed++
	}
	return tasks
}

// done reports whether nothing is waited for: ends, or where nobody waits for them, acceptances.
func (r *submission) done() bool {
	if !r.stopped && r.fed < r.Plan.Len() {
		return false
	}
	if r.Ended == nil {
		return r.client.Open() == r.client.Owed()
	}
	return r.client.Open() == 0
}

func (r *submission) perform(a *generator.Actions) (wake time.Duration) {
	for _, m := range a.Send {
		r.underWay++
		r.peers[m.Scheduler].posts <- m // there is room: the client knows how many connections there are
	}
	for _, p := range a.Poll {
		r.peers[p.Scheduler].polls <- p
	}
	wake = a.Wake
	for i := range a.Ended {
		r.end(&a.Ended[i])
	}
	return wake
}

// end takes note of a task's end, and has the rest cancelled where that is due.
func (r *submission) end(e *generator.Ending) {
	ended := Ended{Outcome: cluster.Lost, Reason: e.Reason, Attempts: e.Taken}
	switch e.Cause {
	case generator.Collected:
		t := e.Record
		ended = Ended{t.Outcome, t.ExitCode, t.Reason, t.Worker, t.Attempts, t.Wait, t.Run, t.Printed, t.Output}
	case generator.NotSubmitted:
		ended.Outcome = cluster.Cancelled
	case generator.Refused:
		ended.Outcome = cluster.Failed
		r.giveUp(Refused{fmt.Errorf("%s: %s", Describe(r.Plan.At(int64(e.Task))), e.Reason)})
	case generator.NoScheduler:
		r.giveUp(Refused{errors.New(e.Reason)})
	}
	if r.Ended != nil {
		r.Ended(int64(e.Task), ended)
	}
	if !ended.OK() && ended.Outcome != cluster.Cancelled {
		if r.fails++; r.fails == r.Job.MaxFails {
			r.giveUp(fmt.Errorf("%d tasks failed, as many as -max-fails allows: the rest of the job is cancelled", r.fails))
		}
	}
}

// giveUp has the rest of the job cancelled. The caller holds the lock.
func (r *submission) giveUp(why error) {
	if r.failure == nil {
		r.failure = why
	}
	if !r.stopped {
		r.stopped = true
		close(r.rest)
	}
}

// watch wakes the client when something is due that no message announces.
func (r *submission) watch() {
	defer r.alarm.Stop()
	for {
		select {
		case <-r.alarm.C:
			r.step(r.client.Tick)
		case <-r.calls.Done():
			return
		}
	}
}

// Describe names a task for people: by its number, and by its entry if it is short.
func Describe(t job.Task) string {
	const short = 80
	name := fmt.Sprintf("task %d", t.Index)
	if len(t.Entries) == 0 || len(t.Entries) == 1 && t.Entries[0] == fmt.Sprint(t.Index) {
		return name
	}
	text := t.Entries[0]
	for _, e := range t.Entries[1:] {
		text += " " + e
	}
	if len(text) > short {
		text = text[:short] + "..."
	}
	return fmt.Sprintf("%s (%s)", name, text)
}
