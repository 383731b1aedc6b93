package drive

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/report/results"
)

// A task that is submitted again counts from its first submission, and as retried.
func TestResubmittedTasksCountFromTheirFirstSubmission(t *testing.T) {
	for name, fault := range map[string]func(*fakeScheduler){"dies": (*fakeScheduler).kill, "restarts": (*fakeScheduler).restart} {
		synctest.Test(t, func(t *testing.T) {
			schedulers := fakes(t, "a", "b")
			schedulers[0].runTime = time.Second
			c := config(t, workload(t, 100, 10*time.Millisecond), schedulers)
			after(t, 500*time.Millisecond, func() { fault(schedulers[0]) })
			result := replay(t, t.Context(), c)
			again := 0
			for id, row := range rows(t, c, result) {
				if row.Attempts > 1 {
					again++
					if row.Received != row.Sent || row.Attempts != 2 {
						t.Errorf("%s: task %s: %+v", name, id, row)
					}
				}
				i, err := strconv.Atoi(id[1:])
				if err != nil {
					t.Fatal(err)
				}
				if ofA := i%2 == 0; ofA && i < 49 && row.Attempts != 2 || !ofA && row.Attempts != 1 {
					t.Errorf("%s: the tasks that scheduler a took with it are submitted again, and no others: %+v", name, row)
				}
				if !(row.Received <= row.Enqueued && row.Enqueued <= row.Started && row.Finished <= row.Completed) {
					t.Errorf("%s: task %s: times out of order: %+v", name, id, row)
				}
			}
			summary, err := results.Summarise(c.Dir)
			if err != nil || summary.Retried != again || again == 0 || !result.Clean() {
				t.Errorf("%s: %d submitted again, %+v, %v", name, again, result, err)
			}
		})
	}
}
