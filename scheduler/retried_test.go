package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// gaveUp is the notice of a worker that shuts down, of a task that ran so long.
func gaveUp(t *testing.T, r *Replica, d Dispatch, ran time.Duration) *Actions {
	t.Helper()
	actions, err := r.Completed(0, &cluster.CompletionNotice{Node: r.Node(d.Node).Name, NodeIncarnation: 1,
		SchedulerIncarnation: testIncarnation,
		Completions: []cluster.Completion{{TaskID: d.Assignment.TaskID, Number: d.Assignment.Number, Outcome: cluster.Lost, Run: ran,
			Reason: "worker shuts down"}}})
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// Retried counts the executions of a task beyond its first, and nothing else.
func TestExecutionsBeyondTheFirst(t *testing.T) {
	for name, c := range map[string]struct {
		retried int64
		run     func(r *Replica, d Dispatch)
	}{
		"a machine is lost, and the execution there fails later": {1, func(r *Replica, d Dispatch) {
			acknowledge(r, 0, d)
			second := r.NodeDown(0, d.Node, 1, d.Assignment.Number).Send[0]
			finish(t, r, 0, d, cluster.Failed)
			finish(t, r, 0, second, cluster.Finished)
		}},
		"it failed": {1, func(r *Replica, d Dispatch) {
			finish(t, r, 0, finish(t, r, 0, d, cluster.Failed).Send[0], cluster.Finished)
		}},
		"cancelled before it ran, then asked for again": {0, func(r *Replica, d Dispatch) {
			r.Cancel(0, cluster.Everybody, "j.0")
			r.Acknowledged(0, []Dispatch{d}, refusedBy(d, cluster.QueueFull))
			actions, _, _ := r.RetryJob(0, cluster.Everybody, "j")
			finish(t, r, 0, actions.Send[0], cluster.Finished)
		}},
		"cancelled while it ran, then asked for again": {1, func(r *Replica, d Dispatch) {
			acknowledge(r, 0, d)
			r.Cancel(0, cluster.Everybody, "j.0")
			finish(t, r, 0, d, cluster.Cancelled)
			actions, _, _ := r.RetryJob(0, cluster.Everybody, "j")
			finish(t, r, 0, actions.Send[0], cluster.Finished)
		}},
		"given up while it waited at a worker": {0, func(r *Replica, d Dispatch) {
			finish(t, r, 0, gaveUp(t, r, d, 0).Send[0], cluster.Finished)
		}},
		"given up while it ran": {1, func(r *Replica, d Dispatch) {
			finish(t, r, 0, gaveUp(t, r, d, time.Second).Send[0], cluster.Finished)
		}},
	} {
		r := jobReplica(t)
		c.run(r, runOf(t, r, 0, &cluster.Job{ID: "j", Retries: 1}, 0, nil))
		if s := r.Jobs(&cluster.JobQuery{ID: "j"})[0]; s.Retried != c.retried || s.Outcomes[cluster.Finished] != 1 {
			t.Errorf("%s: %+v, want it finished and %d retried", name, s, c.retried)
		}
	}
}

// A worker that shuts down in order hands back what it has not started: no machine is lost, whatever the limit.
func TestATaskThatWaitedLosesNoMachine(t *testing.T) {
	for ran, want := range map[time.Duration]int{0: 1, time.Second: 0} {
		r := jobReplica(t)
		gaveUp(t, r, runOf(t, r, 0, &cluster.Job{ID: "j", CrashLimit: 1}, 0, nil), ran)
		if r.Pending() != want {
			t.Errorf("after %v of running %d tasks are open, want %d", ran, r.Pending(), want)
		}
	}
}
