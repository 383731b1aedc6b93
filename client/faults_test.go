package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/job"
)

// A scheduler that twice gives no answer is asked again when it is back, whether somebody waits for ends or not.
func TestSilentForAMoment(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a := newScheduler("a")
			a.fault = func(call int) error {
				if call == 1 || call == 2 {
					return errUnanswered
				}
				return nil
			}
			s := array(t, 5)
			if waits {
				attended(t, s)
			}
			if err := of(a).Submit(t.Context(), s, Interrupts{}); err != nil || len(a.tasks) != 5 {
				t.Errorf("waiting %v: %d tasks, %v", waits, len(a.tasks), err)
			}
		})
	}
}

// Whatever becomes of messages, every task is taken, and of those that somebody waits for each ends once. No scheduler fails
// so often that none of them takes tasks for as long as a client is patient: it rests for a second after one that drains.
func TestFaults(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		errs := []error{nil, nil, nil, errUnanswered, cluster.Errorf(cluster.Overloaded, "full"), cluster.Errorf(cluster.Draining, "bye")}
		draw := func(what string) func(int) error {
			faults := rapid.SliceOfN(rapid.IntRange(0, len(errs)-1), 0, 8).Draw(r, what)
			return func(call int) error {
				if call > 0 && call <= len(faults) {
					return errs[faults[call-1]]
				}
				return nil
			}
		}
		lost := func(f func(int) error) func(int) error {
			return func(call int) error {
				if err := f(call); err == errUnanswered {
					return err
				}
				return nil
			}
		}
		faults := [...]func(int) error{draw("a"), draw("b"), lost(draw("after a")), lost(draw("after b"))}
		n, forgets, waits := rapid.IntRange(1, 3000).Draw(r, "tasks"), rapid.Bool().Draw(r, "forgets"), rapid.Bool().Draw(r, "waits")
		synctest.Test(t, func(t *testing.T) {
			a, b := newScheduler("a"), newScheduler("b")
			a.fault, b.fault, a.after, b.after, a.forgets = faults[0], faults[1], faults[2], faults[3], forgets
			s := array(t, n)
			var ends map[int64]Ended
			if waits {
				ends = attended(t, s)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if err := of(a, b).Submit(ctx, s, Interrupts{}); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				id := s.Plan.At(int64(i)).Index
				task := job.TaskID(s.Job.ID, id)
				if a.tasks[task] == nil && b.tasks[task] == nil {
					t.Fatalf("nobody has task %d", id)
				}
			}
			if waits && len(ends) != n {
				t.Fatalf("%d of %d tasks have ended", len(ends), n)
			}
		})
	})
}
