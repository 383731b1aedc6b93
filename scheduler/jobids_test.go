package scheduler

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// runAs submits a task of a job under an id, and returns why it was refused, or where it went.
func runAs(r *Replica, now time.Duration, job, id string, index int64) (Dispatch, *cluster.Refusal) {
	template := programOf("x")
	spec := commandOf(job, index, template, template.Digest())
	spec.ID = id
	actions, refusal := r.SubmitJob(now, &cluster.Job{ID: job}, "", spec)
	if refusal != nil {
		return Dispatch{}, refusal
	}
	return actions.Send[0], nil
}

// An id is a task's for as long as its job is kept, though its record is gone: the job has no other of it, and what
// another job calls the same meanwhile is left alone when the job runs again.
func TestIDsOfAJobAreItsOwn(t *testing.T) {
	for _, id := range []string{"x", "j.1", "j.2"} {
		r := jobReplica(t)
		d, refusal := runAs(r, 0, "j", id, 1)
		if refusal != nil {
			t.Fatal(refusal)
		}
		finish(t, r, 0, d, cluster.Failed)
		now := 2 * testConfig().RetainFor
		r.Tick(now)
		if len(r.Query(cluster.TaskQuery{ID: id})) > 0 {
			t.Fatal("the record has not expired")
		}
		if _, refusal := runAs(r, now, "j", id, 2); refusal == nil || refusal.Code != cluster.DuplicateTask {
			t.Errorf("%s is taken twice: %v", id, refusal)
		}
		other, refusal := runAs(r, now, "k", id, 5)
		if refusal != nil {
			t.Fatal(refusal)
		}
		if _, n, err := r.RetryJob(now, cluster.Everybody, "j"); n != 0 || err != nil {
			t.Errorf("%d tasks run again (%v), though job k has %s", n, err, id)
		}
		r.Tick(now)
		finish(t, r, now, other, cluster.Finished)
		if _, n, err := r.RetryJob(now, cluster.Everybody, "j"); n != 1 || err != nil || r.Pending() != 1 || len(r.tasks) != 1 {
			t.Errorf("%d tasks run again (%v), want the one that failed", n, err)
		}
		if list := r.JobTasks(&cluster.JobTaskQuery{Job: "j", Max: 9}); len(list) != 1 || list[0].ID != id {
			t.Errorf("%+v", list)
		}
	}
}

// A job finds a task's index by its id, and its id by its index, whatever it is called.
func TestIndexOfAnID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j, want := &job{Job: cluster.Job{ID: "j"}}, map[string]int64{}
		id := rapid.SampledFrom([]string{"j.0", "j.1", "j.2", "j.00", "j.01", "j.+1", "j.-0", "j.", "j", "x", ""})
		for range rapid.IntRange(0, 6).Draw(t, "tasks") {
			index, name := rapid.Int64Range(0, 3).Draw(t, "index"), id.Draw(t, "id")
			if _, e := j.find(index); e != nil {
				continue
			}
			if _, taken := want[name]; !taken {
				j.insert(index)
				j.ids.add(j.ID, index, name)
				want[name] = index
			}
		}
		for name, index := range want {
			if got, ok := j.indexOf(name); !ok || got != index || j.taskID(index) != name {
				t.Fatalf("%q is %d (%v), want %d; that is %q", name, got, ok, index, j.taskID(index))
			}
		}
		if name := id.Draw(t, "asked"); want[name] == 0 {
			if _, known := want[name]; !known {
				if got, ok := j.indexOf(name); ok {
					t.Fatalf("%q is %d: there is none", name, got)
				}
			}
		}
	})
}
