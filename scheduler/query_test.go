package scheduler

import (
	"fmt"
	"testing"

	"dodoor/internal/cluster"
)

// pages reads everything that a query is about, page by page, and returns how often each task came.
func pages(t *testing.T, r *Replica, q cluster.TaskQuery) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for {
		list := r.Query(q)
		if len(list) == 0 {
			return seen
		}
		size := 0
		for i := range list {
			seen[list[i].ID]++
			size += list[i].Size()
		}
		if len(list) > q.Max || size > pageBytes+10_000 {
			t.Fatalf("a page of %d tasks and %d bytes", len(list), size)
		}
		last := list[len(list)-1]
		q.After, q.Ended = last.ID, last.Phase == cluster.Ended
	}
}

// Whoever asks page by page sees every task once, those of a job alone if that is asked, and no page exceeds a message.
func TestTasksPageByPage(t *testing.T) {
	cfg := testConfig()
	cfg.MaxPending, cfg.RetainResults = 1<<20, 1<<20
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(5))
	const many = 20_000
	template := &cluster.Template{Argv: []string{"true"}}
	for i := range int64(many) {
		j := &cluster.Job{ID: "one"}
		if i%10 == 0 {
			j = &cluster.Job{ID: "other"}
		}
		actions, refusal := r.SubmitJob(0, j, "", commandOf(j.ID, i, template, template.Digest()))
		if refusal != nil {
			t.Fatal(refusal)
		}
		if i%2 == 0 {
			finish(t, r, 0, actions.Send[0], cluster.Finished)
		}
	}
	for _, c := range []struct {
		q    cluster.TaskQuery
		want int
	}{
		{cluster.TaskQuery{Max: 65_536}, many}, {cluster.TaskQuery{Max: 777}, many}, {cluster.TaskQuery{Max: 999, Ended: true}, many / 2},
		{cluster.TaskQuery{Max: 100, Job: "other"}, many / 10}, {cluster.TaskQuery{Max: 100, Job: "none"}, 0},
	} {
		seen := pages(t, r, c.q)
		for id, times := range seen {
			if times != 1 {
				t.Fatalf("%+v: %s came %d times", c.q, id, times)
			}
		}
		if len(seen) != c.want {
			t.Errorf("%+v: %d tasks, want %d", c.q, len(seen), c.want)
		}
	}
	s := r.Query(cluster.TaskQuery{IDs: []string{"other.0", "nobody", "one.1"}})
	if got := fmt.Sprint(ids(s), s[0].Job, s[0].Index, s[0].Phase, s[1].Index, s[1].Attempt); got != "[other.0 one.1]other0 ended 1 1" {
		t.Error(got)
	}
}

// A task that ran again has two records for a while. It comes once, and no page begins anew at its newer one.
func TestTasksThatRanAgainPageByPage(t *testing.T) {
	const n = 7
	r := failedTasks(t, n, n)
	actions, _, err := r.RetryJob(0, cluster.Everybody, "j")
	if err != nil {
		t.Fatal(err)
	}
	waiting := append([]Dispatch(nil), actions.Send...)
	for open := n; open >= 0; open-- {
		for most := 1; most <= n+1; most++ {
			q, seen := cluster.TaskQuery{Max: most, For: cluster.Everybody}, 0
			for list := r.Query(q); len(list) > 0; list = r.Query(q) {
				if seen += len(list); seen > n {
					t.Fatalf("%d open, pages of %d: more than there are", open, most)
				}
				last := list[len(list)-1]
				q.After, q.Ended = last.ID, last.Phase == cluster.Ended
			}
			if seen != n {
				t.Errorf("%d open, pages of %d: %d tasks", open, most, seen)
			}
		}
		if open > 0 {
			waiting = append(waiting[1:], finish(t, r, 0, waiting[0], cluster.Finished).Send...)
		}
	}
}

// BenchmarkTasksPage is a page of the tasks of a scheduler that has a million.
func BenchmarkTasksPage(b *testing.B) {
	r := waitingTasks(b, 1_000_000, Given)
	after := ""
	for b.Loop() {
		list := r.Query(cluster.TaskQuery{Max: 1000, After: after})
		if after = ""; len(list) > 0 && list[len(list)-1].Phase != cluster.Ended {
			after = list[len(list)-1].ID
		}
	}
}
