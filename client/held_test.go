package client

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// waitingAt is a task of job j that a worker has for a scheduler.
func waitingAt(worker, scheduler, id string, index int64) cluster.TaskStatus {
	return cluster.TaskStatus{ID: id, Phase: cluster.Running, Node: worker, Scheduler: scheduler, Job: "j", Index: index, Attempt: 1}
}

// Cancel ends a task that has not ended.
func (f *fakeScheduler) Cancel(_ context.Context, id string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault != nil && f.fault(0) != nil {
		return false, f.fault(0)
	}
	t := f.tasks[id]
	if t == nil || t.Outcome != cluster.NoOutcome {
		return false, nil
	}
	f.end(t, cluster.Cancelled, true)
	return true, nil
}

// goneAndHeld is a job of three tasks: one ended at a scheduler, the two others were placed by one that is gone, of which a worker
// has one and knows the end of the other.
func goneAndHeld() (*Cluster, *fakeWorker) {
	a, b := share("a", 3, map[int64]cluster.Outcome{1: cluster.Finished}), newScheduler("b")
	b.fault = func(int) error { return errGone }
	ended := waitingAt("w", "b", "j.3", 3)
	ended.Phase, ended.Record = cluster.Ended, &cluster.TaskRecord{ID: "j.3", Outcome: cluster.Failed, ExitCode: 7, Reason: "exit status 7"}
	w := &fakeWorker{tasks: []cluster.TaskStatus{waitingAt("w", "b", "j.2", 2), ended, waitingAt("w", "a", "j.1", 1)}}
	return of(a, b).with(w), w
}

// Who waits for a job, one of whose schedulers is gone, waits for what workers have of it, and then knows how every task ended.
func TestWaitForWhatWorkersHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := goneAndHeld()
		start := time.Now()
		time.AfterFunc(time.Minute, func() { w.Cancel(context.Background(), "j.2", "") })
		j, err := c.Wait(t.Context(), "j", func(Job) {})
		took := time.Since(start)
		if err != nil || j.Accepted != 3 || j.Open() != 0 || j.Outcomes[cluster.Failed] != 1 || j.Outcomes[cluster.Cancelled] != 1 {
			t.Errorf("%+v, %v", j, err)
		}
		if took < time.Minute || took > time.Minute+2*pollWait {
			t.Errorf("it took %v, and the last task a minute", took)
		}
	})
}

// What neither schedulers nor workers tell of is said, and why.
func TestWaitSaysWhatIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := goneAndHeld()
		w.tasks = w.tasks[1:]
		_, err := c.Wait(t.Context(), "j", func(Job) {})
		if err == nil || !strings.Contains(err.Error(), "of 1 of its 3 tasks nobody who answers tells") ||
			!strings.Contains(err.Error(), "scheduler b") {
			t.Error(err)
		}
		w.away = true
		if _, err := c.Wait(t.Context(), "j", func(Job) {}); err == nil || !strings.Contains(err.Error(), "scheduler b") {
			t.Error(err)
		}
	})
}

// Tasks of a scheduler that is gone are told, looked at and cancelled where they are.
func TestWorkersAreAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, w := goneAndHeld()
		var told []string
		var last error
		for task, err := range c.Tasks(t.Context(), "j", 0, false) {
			if last = err; err == nil {
				told = append(told, task.ID+" "+task.Outcome.String())
			}
		}
		if want := []string{"j.1 finished", "j.2 ", "j.3 failed"}; !slices.Equal(told, want) || last == nil ||
			!strings.Contains(last.Error(), "scheduler b") {
			t.Errorf("%q, want %q; %v", told, want, last)
		}
		if task, err := c.Task(t.Context(), "j", 3); err != nil || task.Worker != "w" || task.ExitCode != 7 {
			t.Errorf("%+v, %v", task, err)
		}
		if by, err := c.CancelTask(t.Context(), "j.2"); !slices.Equal(by, []string{"worker w"}) || err == nil {
			t.Errorf("cancelled by %v, %v", by, err)
		}
		if by, _ := c.CancelTask(t.Context(), "nobody's"); len(by) > 0 {
			t.Errorf("cancelled by %v", by)
		}
		w.tasks = append(w.tasks, waitingAt("w", "b", "j.9", 9), waitingAt("w", "a", "j.10", 10))
		if n, err := c.Cancel(t.Context(), "j"); n != 1 || err == nil {
			t.Errorf("%d tasks are cancelled, %v", n, err)
		}
		if s := w.tasks[4]; s.Phase != cluster.Running {
			t.Errorf("a task was cancelled at the worker whose scheduler answers: %+v", s)
		}
	})
}
