package scheduler

import (
	"errors"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// failedTasks is a replica that takes so many tasks at a time, with a job of which n have failed.
func failedTasks(t *testing.T, room, n int) *Replica {
	t.Helper()
	cfg := testConfig()
	cfg.MaxPending = room
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(5))
	for i := range n {
		finish(t, r, 0, runOf(t, r, 0, &cluster.Job{ID: "j"}, int64(i), nil), cluster.Failed)
	}
	return r
}

// More tasks than there is room for run again as there is, each of them once; the job is open meanwhile.
func TestMoreRunAgainThanThereIsRoomFor(t *testing.T) {
	const n = 150
	for _, room := range []int{1, 40, 150, 1000} {
		r := failedTasks(t, room, n)
		actions, tasks, err := r.RetryJob(0, cluster.Everybody, "j")
		if tasks != n || err != nil || r.Pending() != min(room, n) {
			t.Fatalf("room for %d: %d tasks run again (%v), %d are open", room, tasks, err, r.Pending())
		}
		ran := map[string]int{}
		for waiting := append([]Dispatch(nil), actions.Send...); len(waiting) > 0; {
			if !r.JobOpen(cluster.Everybody, "j") {
				t.Fatalf("room for %d: the job is over after %d tasks", room, len(ran))
			}
			d := waiting[0]
			ran[d.Assignment.TaskID]++
			o := cluster.Finished
			if len(ran)%2 == 0 {
				o = cluster.Failed // again
			}
			waiting = append(waiting[1:], finish(t, r, 0, d, o).Send...)
			waiting = append(waiting, r.Tick(0).Send...)
			if r.Pending() > room {
				t.Fatalf("room for %d, %d are open", room, r.Pending())
			}
		}
		for id, times := range ran {
			if times != 1 {
				t.Errorf("room for %d: %s ran %d times", room, id, times)
			}
		}
		if len(ran) != n || r.JobOpen(cluster.Everybody, "j") || len(r.jobs.retrying) > 0 {
			t.Errorf("room for %d: %d of %d ran again", room, len(ran), n)
		}
	}
}

// What is still to run again stays as it is when somebody cancels or forgets the job, or the scheduler shuts down.
func TestRunningAgainEnds(t *testing.T) {
	for name, end := range map[string]func(r *Replica){
		"cancel": func(r *Replica) { r.CancelJob(0, cluster.Everybody, "j") },
		"drain":  func(r *Replica) { r.Draining() },
		"fails":  func(r *Replica) { r.jobs.byID["j"].why = "too many" },
	} {
		r := failedTasks(t, 10, 30)
		actions, _, _ := r.RetryJob(0, cluster.Everybody, "j")
		sent := append([]Dispatch(nil), actions.Send...)
		end(r)
		for _, d := range sent {
			acknowledge(r, 0, d)
			finish(t, r, 0, d, cluster.Failed)
			r.Tick(0)
		}
		if r.Pending() > 0 || r.JobOpen(cluster.Everybody, "j") || len(r.jobs.retrying) > 0 {
			t.Errorf("%s: %d tasks are open", name, r.Pending())
		}
		if known, err := r.ForgetJob(cluster.Everybody, "j"); !known || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where there is no room at all nothing runs again, and nothing has changed.
func TestNoRoomToRunAgain(t *testing.T) {
	r := failedTasks(t, 1, 3)
	runOf(t, r, time.Second, &cluster.Job{ID: "other"}, 0, nil)
	if _, n, err := r.RetryJob(time.Second, cluster.Everybody, "j"); n != 0 || !errors.Is(err, cluster.Overloaded) || r.Pending() != 1 ||
		r.JobOpen(cluster.Everybody, "j") {
		t.Errorf("%d tasks run again (%v)", n, err)
	}
}

// What was to run again when a scheduler that keeps was told to shut down runs again in its next process.
func TestRunningAgainOutlivesADrain(t *testing.T) {
	const room, n = 10, 30
	cfg := keeping(testConfig(), testIncarnation, 0)
	cfg.MaxPending = room
	d, policy, nodes := disk{}, paperPolicy(t), paperNodes(5)
	push := func(r *Replica) {
		t.Helper()
		s := snapshotOf(1, nodes, make([]cluster.Load, len(nodes)))
		s.ReceiverIncarnation = r.cfg.Incarnation
		if _, err := r.Push(0, s); err != nil {
			t.Fatal(err)
		}
	}
	r := restored(t, cfg, policy, d)
	push(r)
	for i := range n {
		finish(t, r, 0, runOf(t, r, 0, &cluster.Job{ID: "j"}, int64(i), nil), cluster.Failed)
	}
	actions, tasks, err := r.RetryJob(0, cluster.Everybody, "j")
	if err != nil || tasks != n || r.Postponed() != n-room {
		t.Fatalf("%d tasks run again, %d later (%v)", tasks, r.Postponed(), err)
	}
	r.Draining()
	for _, sent := range append([]Dispatch(nil), actions.Send...) {
		finish(t, r, 0, sent, cluster.Finished)
		r.Tick(0)
	}
	if r.Pending() > 0 || r.Postponed() != n-room {
		t.Errorf("%d tasks run, %d are to run again", r.Pending(), r.Postponed())
	}
	d.sync(r)
	cfg.Incarnation++
	cfg.MaxPending = n
	r = restored(t, cfg, policy, d)
	push(r)
	if r.Tick(time.Second); r.Pending() != n-room || r.Postponed() > 0 {
		t.Errorf("%d of %d run again after all", r.Pending(), n-room)
	}
}
