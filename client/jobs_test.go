package client

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/job"
)

// share gives a scheduler a part of job j: tasks with these outcomes.
func share(name string, tasks int64, outcomes map[int64]cluster.Outcome) *fakeScheduler {
	f := newScheduler(name)
	f.job = cluster.Job{ID: "j", Tasks: tasks}
	for index, o := range outcomes {
		id := job.TaskID("j", index)
		f.tasks[id] = &cluster.JobTask{Index: index, ID: id, Outcome: o}
	}
	return f
}

// What the schedulers say adds up to the job, task by task, whoever has which.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.Int64Range(1, 3*page).Draw(r, "tasks")
		parts := []map[int64]cluster.Outcome{{}, {}, {}}
		var want [cluster.Lost + 1]int64
		whose := rapid.SliceOfN(rapid.IntRange(0, 2), int(n), int(n)).Draw(r, "whose")
		for i := range n {
			o := cluster.Outcome(i % int64(cluster.Lost+1))
			parts[whose[i]][i+1] = o
			want[o]++
		}
		c := of(share("a", n, parts[0]), share("b", n, parts[1]), share("c", n, parts[2]))
		j, err := c.Job(t.Context(), "j")
		if err != nil || j.Accepted != n || j.Open() != want[0] || j.Unknown != 0 || j.Bad() != n-want[0]-want[cluster.Finished] {
			r.Fatalf("%+v, %v", j, err)
		}
		from, unsuccessful := rapid.Int64Range(0, n).Draw(r, "from"), rapid.Bool().Draw(r, "unsuccessful")
		next := max(from, 1)
		for task, err := range c.Tasks(t.Context(), "j", from, unsuccessful) {
			skips := func(i int64) bool {
				o := cluster.Outcome((i - 1) % int64(cluster.Lost+1))
				return unsuccessful && (o == cluster.NoOutcome || o == cluster.Finished)
			}
			for skips(next) {
				next++
			}
			if err != nil || task.Index != next || task.Outcome != cluster.Outcome((next-1)%int64(cluster.Lost+1)) {
				r.Fatalf("%+v, %v, want task %d", task, err, next)
			}
			next++
		}
		if !unsuccessful && next != n+1 {
			r.Fatalf("%d tasks of %d", next-1, n)
		}
	})
}

// Of a task that two schedulers were given, the account counts that is better.
func TestTasksOfTwoSchedulers(t *testing.T) {
	a := share("a", 2, map[int64]cluster.Outcome{1: cluster.Lost, 2: cluster.Finished})
	b := share("b", 2, map[int64]cluster.Outcome{1: cluster.Finished, 2: cluster.NoOutcome})
	n := 0
	for task, err := range of(a, b).Tasks(t.Context(), "j", 0, false) {
		if n++; err != nil || task.Outcome != cluster.Finished {
			t.Errorf("%+v, %v", task, err)
		}
	}
	if n != 2 {
		t.Errorf("%d tasks", n)
	}
}

// A scheduler that does not answer keeps nobody's tasks back but its own.
func TestTasksWithoutAScheduler(t *testing.T) {
	silent, a := share("s", 3, nil), share("a", 3, map[int64]cluster.Outcome{1: cluster.Finished, 3: cluster.Failed})
	silent.fault = func(int) error { return errUnanswered }
	c := of(silent, a)
	var indices []int64
	var last error
	for task, err := range c.Tasks(t.Context(), "j", 0, false) {
		if last = err; err == nil {
			indices = append(indices, task.Index)
		}
	}
	if !slices.Equal(indices, []int64{1, 3}) || !errors.Is(last, errUnanswered) {
		t.Errorf("tasks %v, %v", indices, last)
	}
	if task, err := c.Task(t.Context(), "j", 3); err != nil || task.Outcome != cluster.Failed {
		t.Errorf("%+v, %v", task, err)
	}
	if _, err := c.Task(t.Context(), "j", 2); !errors.Is(err, errUnanswered) {
		t.Error(err)
	}
}

func TestUnknownJobs(t *testing.T) {
	c := of(newScheduler("a"), newScheduler("b"))
	if _, err := c.Job(t.Context(), "j"); !errors.Is(err, ErrUnknownJob) {
		t.Error(err)
	}
	if _, err := c.Wait(t.Context(), "j", func(Job) {}); !errors.Is(err, ErrUnknownJob) {
		t.Error(err)
	}
	if _, err := c.Task(t.Context(), "j", 1); err == nil || !strings.Contains(err.Error(), "task 1 of job j") {
		t.Error(err)
	}
	silent := share("b", 1, nil)
	silent.fault = func(int) error { return errUnanswered }
	if _, err := of(newScheduler("a"), silent).Job(t.Context(), "j"); errors.Is(err, ErrUnknownJob) || !errors.Is(err, errUnanswered) {
		t.Errorf("a scheduler that does not answer may know it: %v", err)
	}
}

// Everybody forgets: schedulers first, and then workers.
func TestForget(t *testing.T) {
	a, w := share("a", 1, map[int64]cluster.Outcome{1: cluster.Finished}), &fakeWorker{}
	if known, err := of(a).with(w, &fakeWorker{}).Forget(t.Context(), "j"); err != nil || !known || !a.forgotten || w.forgotten != "j" {
		t.Errorf("%v, %v, %v, %q", known, err, a.forgotten, w.forgotten)
	}
}

// One worker that would run it is enough; when all refuse, the reason is told, and no worker is asked for too much.
func TestPermission(t *testing.T) {
	refusing := &fakeWorker{refuses: "process.allow does not list it"}
	p := array(t, 5).Plan
	for _, x := range []struct {
		workers []*fakeWorker
		says    string
	}{
		{nil, ""}, {[]*fakeWorker{{}}, ""}, {[]*fakeWorker{refusing, {}, refusing}, ""}, {[]*fakeWorker{refusing, {away: true}}, ""},
		{[]*fakeWorker{refusing}, "the worker does not run this: process.allow does not list it (worker w)"},
		{[]*fakeWorker{refusing, refusing}, "none of 2 workers runs this: process.allow does not list it (worker w"},
	} {
		err := of().with(x.workers...).Permitted(t.Context(), p)
		if x.says == "" && err != nil || x.says != "" && (err == nil || !strings.HasPrefix(err.Error(), x.says)) {
			t.Errorf("%d workers: %v, want %q", len(x.workers), err, x.says)
		}
	}
	crowd := make([]*fakeWorker, 3*asked)
	refusing.asked = 0
	for i := range crowd {
		crowd[i] = refusing
	}
	if err := of().with(crowd...).Permitted(t.Context(), p); err == nil || refusing.asked != asked {
		t.Errorf("%d were asked, %v", refusing.asked, err)
	}
}
