package client

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/job"
)

// Every task is at exactly one scheduler, all have their share, and the template travels no more often than messages can
// be under way before the first is answered.
func TestTasksAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newScheduler("a"), newScheduler("b")
		if err := of(a, b).Submit(t.Context(), array(t, 20_000), Interrupts{}); err != nil {
			t.Fatal(err)
		}
		if len(a.tasks) != 10_000 || len(b.tasks) != 10_000 {
			t.Errorf("%d and %d tasks", len(a.tasks), len(b.tasks))
		}
		if a.whole == 0 || a.whole > connections || b.whole > connections {
			t.Errorf("the template came %d and %d times", a.whole, b.whole)
		}
		if a.calls > 20_000/chunkTasks {
			t.Errorf("%d messages", a.calls)
		}
	})
}

// The largest template and long entries fit into messages together: no task has to travel alone.
func TestMessagesFit(t *testing.T) {
	for _, length := range []int{1, 200, 2000, cluster.MaxEntry} {
		synctest.Test(t, func(t *testing.T) {
			template := &cluster.Template{Argv: []string{"x"}, Stdin: make([]byte, cluster.MaxStdin), Script: make([]byte, cluster.MaxProgram-100)}
			var in job.Inputs
			if err := in.Add("list", slices.Repeat([]string{strings.Repeat("x", length)}, 1000), false); err != nil {
				t.Fatal(err)
			}
			p, err := job.NewPlan(template, in, nil, job.Figures{})
			if err != nil {
				t.Fatal(err)
			}
			a := newScheduler("a")
			err = of(a).Submit(t.Context(), &Submission{Plan: p, Job: cluster.Job{ID: "j", Tasks: p.Len()}}, Interrupts{})
			if most := rpc.Default().MaxMessageBytes * 95 / 100; err != nil || len(a.tasks) != 1000 || a.largest > most {
				t.Errorf("entries of %d bytes: %d tasks, up to %d bytes at a time, want at most %d, %v", length, len(a.tasks), a.largest, most, err)
			}
		})
	}
}

// A scheduler that forgets templates gets them again, and every task once.
func TestForgottenTemplates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScheduler("a")
		a.forgets = true
		s := array(t, 5000)
		ends := attended(t, s)
		if err := of(a).Submit(t.Context(), s, Interrupts{}); err != nil {
			t.Fatal(err)
		}
		if len(ends) != 5000 || len(a.tasks) != 5000 {
			t.Errorf("%d tasks, %d ends", len(a.tasks), len(ends))
		}
	})
}

// Who is full is asked again until there is room.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScheduler("a")
		a.room, a.runTime = 1000, time.Second
		if err := of(a).Submit(t.Context(), array(t, 5000), Interrupts{}); err != nil || len(a.tasks) != 5000 {
			t.Errorf("%d tasks, %v", len(a.tasks), err)
		}
	})
}

// What a scheduler that is gone was to take, another takes.
func TestDeadScheduler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newScheduler("a"), newScheduler("b")
		a.fault = func(call int) error { return errGone }
		if err := of(a, b).Submit(t.Context(), array(t, 5000), Interrupts{}); err != nil || len(b.tasks) != 5000 {
			t.Errorf("%d tasks, %v", len(b.tasks), err)
		}
	})
}

func TestNobodyIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScheduler("a")
		a.fault = func(int) error { return errGone }
		err := of(a).Submit(t.Context(), array(t, 5), Interrupts{})
		if _, refused := errors.AsType[Refused](err); !refused || !strings.Contains(err.Error(), "no scheduler took tasks for 10s") {
			t.Error(err)
		}
	})
}

// A task that is refused ends the submission, and what was accepted is cancelled everywhere.
func TestRefusals(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, b := newScheduler("a"), newScheduler("b")
			a.runTime, b.runTime = time.Hour, time.Hour
			b.refuse = func(s *cluster.TaskSpec) cluster.RefusalCode {
				if s.Command.Index == 3000 {
					return cluster.NoFeasibleNode
				}
				return 0
			}
			a.refuse = b.refuse
			s := array(t, 5000)
			if waits {
				attended(t, s)
			}
			err := of(a, b).Submit(t.Context(), s, Interrupts{})
			if err == nil || !strings.HasPrefix(err.Error(), "task 3000: no feasible node: by ") {
				t.Error(err)
			}
			if a.open() > 0 || b.open() > 0 || a.cancelled == 0 || b.cancelled == 0 {
				t.Errorf("%d and %d tasks are open", a.open(), b.open())
			}
		})
	}
}

func TestMaxFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, w := newScheduler("a"), &fakeWorker{tasks: []cluster.TaskStatus{waitingAt("w", "gone", "j.101", 101)}}
		a.outcome = func(index int64) cluster.Outcome {
			if index <= 10 {
				return cluster.Failed
			}
			return cluster.NoOutcome
		}
		s := array(t, 100)
		s.Job.MaxFails = 7
		ends := attended(t, s)
		err := of(a).with(w).Submit(t.Context(), s, Interrupts{})
		if w.tasks[0].Phase != cluster.Ended {
			t.Error("what a worker has of the job for a scheduler that is gone goes on")
		}
		if err == nil || !strings.Contains(err.Error(), "7 tasks failed, as many as -max-fails allows") {
			t.Error(err)
		}
		count := map[cluster.Outcome]int{}
		for _, e := range ends {
			count[e.Outcome]++
		}
		if count[cluster.Failed] != 10 || count[cluster.Cancelled] != 90 {
			t.Errorf("%v", count)
		}
	})
}

// The first signal cancels and waits for ends; the second waits for nobody.
func TestInterrupts(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			a, w := newScheduler("a"), &fakeWorker{tasks: []cluster.TaskStatus{waitingAt("w", "gone", "j.101", 101)}}
			a.runTime = time.Hour
			by := Interrupts{Cancel: make(chan struct{}), Hurry: make(chan struct{})}
			cancel, hurry := make(chan struct{}), make(chan struct{})
			by.Cancel, by.Hurry = cancel, hurry
			time.AfterFunc(time.Minute, func() {
				if deaf {
					a.mu.Lock()
					defer a.mu.Unlock()
					clear(a.tasks) // it knows nothing to cancel, and nothing will ever end
				}
				close(cancel)
			})
			if deaf {
				time.AfterFunc(time.Minute+time.Second, func() { close(hurry) })
			}
			s := array(t, 100)
			ends := attended(t, s)
			start := time.Now()
			if err := of(a).with(w).Submit(t.Context(), s, by); !errors.Is(err, ErrInterrupted) {
				t.Error(err)
			}
			if w.tasks[0].Phase != cluster.Ended {
				t.Error("what a worker has of the job for a scheduler that is gone goes on")
			}
			if took := time.Since(start); took > time.Minute+2*time.Second || len(ends) != 100 {
				t.Errorf("took %v, %d ends", took, len(ends))
			}
		})
	}
}

// Only so many tasks are open at a time, however many there are.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScheduler("a")
		a.runTime = time.Second
		most := 0
		a.after = func(int) error { most = max(most, a.open()); return nil }
		s := array(t, 3000)
		s.Window = 500
		if err := of(a).Submit(t.Context(), s, Interrupts{}); err != nil || len(a.tasks) != 3000 {
			t.Errorf("%d tasks, %v", len(a.tasks), err)
		}
		attended(t, s)
		a, most = newScheduler("a"), 0
		a.runTime = time.Second
		a.after = func(int) error { most = max(most, a.open()); return nil }
		if err := of(a).Submit(t.Context(), s, Interrupts{}); err != nil || most > 500+feed {
			t.Errorf("%d tasks were open, %v", most, err)
		}
	})
}
