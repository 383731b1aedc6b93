package generator

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// When no scheduler takes tasks for too long, those that none has are lost, also before their time. A
// draining one still answers for what it accepted.
func TestNoSchedulerTakesTasks(t *testing.T) {
	c := expecting(2, 4, func(cfg *ClientConfig) { cfg.Patience = 3 * time.Second })
	sober(c)
	m := append(sends(t, c.Submit(0, 0), "a[0]"), sends(t, c.Submit(0, 1), "b[1]")...)
	c.Accepted(0, m[0], nil)
	m = sends(t, c.Failed(time.Second, m[1], Gone, errTest), "a[1]")
	if actions := c.Failed(2*time.Second, m[0], Draining, errTest); actions.Wake != 3*time.Second {
		t.Errorf("wakes at %v, want when the draining one is asked again", actions.Wake)
	}
	m = sends(t, c.Tick(3*time.Second), "a[1]")
	c.Failed(3500*ms, m[0], Draining, errTest)
	m = sends(t, c.Tick(5*time.Second-1), "a[1]")
	actions := c.Failed(5*time.Second-1, m[0], Draining, errTest)
	if ends(t, actions); actions.Wake != 5*time.Second {
		t.Errorf("wakes at %v, want when patience ends", actions.Wake)
	}
	lost := Ending{Cause: NoScheduler, Reason: "no scheduler took tasks for 3s (no luck)", Sent: Never}
	sent := lost
	sent.Task, sent.Sent = 1, 0
	lost2, lost3 := lost, lost
	lost2.Task, lost3.Task = 2, 3
	ends(t, c.Tick(5*time.Second), sent, lost2, lost3)
	ends(t, c.Submit(5*time.Second, 2, 3))
	if actions = c.Collected(6*time.Second, 0, records(1, "t0")); len(actions.Ended) != 1 || c.Open() != 0 {
		t.Errorf("ended %+v, %d open", actions.Ended, c.Open())
	}
}

// Patience begins anew whenever a scheduler answers.
func TestPatienceBeginsAnew(t *testing.T) {
	c := expecting(1, 1, func(cfg *ClientConfig) { cfg.Patience = 3 * time.Second })
	for at := time.Duration(0); at < 10*time.Second; at += 2 * time.Second {
		c.PollFailed(at, 0, Gone, errTest)
		ends(t, c.Tick(at+2*time.Second-1))
		ends(t, c.Collected(at+2*time.Second-1, 0, records(1)))
	}
}

// Where nobody is registered a task waits for whoever is first, and ends when that takes too long.
func TestNobodyIsRegistered(t *testing.T) {
	c := expecting(0, 2, func(cfg *ClientConfig) { cfg.Patience = 3 * time.Second })
	sends(t, c.Submit(0, 0), "")
	if actions := c.Tick(time.Second); actions.Wake != 3*time.Second {
		t.Errorf("wakes at %v, want when patience ends", actions.Wake)
	}
	lost := Ending{Cause: NoScheduler, Reason: "no scheduler is registered, for 3s", Sent: Never}
	lost2 := lost
	lost2.Task = 1
	ends(t, c.Tick(3*time.Second), lost, lost2)
}

// A task that must not run twice, and waits for a memory that is known, keeps no other task back.
func TestOneThatWaitsForAMemoryKeepsNobodyBack(t *testing.T) {
	c := expecting(1, 1, func(*ClientConfig) {})
	sober(c)
	c.schedulers[0].cursor.Incarnation = 0 // not told yet
	once := c.Expect("once", true)
	sends(t, c.Submit(0, once), "")
	m := sends(t, c.Submit(0, 0), "a[0]")
	sends(t, c.Failed(0, m[0], Overloaded, errTest), "")
	sends(t, c.Tick(time.Second), "a[0]")
}

// What must not run twice, and a silent scheduler that keeps what it accepts may have, is given up by a brief client after a minute,
// and waited for by others. What was accepted is waited for by both.
func TestABriefClient(t *testing.T) {
	for _, brief := range []bool{false, true} {
		c := expecting(2, 0, func(cfg *ClientConfig) { cfg.Brief = brief })
		c.Collected(0, 0, &cluster.CollectReply{Incarnation: 1, Keeps: true})
		first, second := c.Expect("accepted", true), c.Expect("unanswered", true)
		m := sends(t, c.Submit(0, first), "a[0]")
		c.Accepted(0, m[0], nil)
		c.dispatch(second, 0)
		m = sends(t, c.Tick(0), "a[1]")
		m = sends(t, c.Failed(0, m[0], Unanswered, errTest), "a[1]")
		actions := c.Failed(ms, m[0], Unanswered, errTest)
		if ends(t, actions); actions.Wake != ms+silence {
			t.Errorf("brief: %v: wakes at %v", brief, actions.Wake)
		}
		ends(t, c.Tick(ms+silence-1))
		var over []Ending
		if brief {
			over = []Ending{{Task: second, Cause: Vanished, Scheduler: "a", Taken: 1,
				Reason: "scheduler a does not answer for 1m0s (no luck), and may have it: it may run, and must not run twice"}}
		}
		ends(t, c.Tick(ms+silence), over...)
		if ends(t, c.Tick(10*silence)); c.Open() != 2-len(over) {
			t.Errorf("brief: %v: %d open", brief, c.Open())
		}
	}
}

func TestStopAndAbandon(t *testing.T) {
	c := expecting(1, 4, func(cfg *ClientConfig) { cfg.DrainTimeout = 7 * time.Second })
	m := sends(t, c.Submit(0, 0, 1, 2), "a[0]")
	c.Accepted(0, m[0], nil)
	stopped := Ending{Task: 2, Cause: NotSubmitted, Reason: "not submitted: the run was stopped", Scheduler: "a", Sent: Never}
	early := stopped
	early.Task, early.Scheduler = 3, ""
	actions := c.Stop(time.Second)
	if ends(t, actions, stopped, early); actions.Wake != 8*time.Second {
		t.Errorf("wakes at %v", actions.Wake)
	}
	reason := "abandoned: no result within 7s after the run was stopped"
	ends(t, c.Tick(8*time.Second-1))
	ends(t, c.Tick(8*time.Second), Ending{Task: 0, Cause: Abandoned, Reason: reason, Scheduler: "a", Taken: 1},
		Ending{Task: 1, Cause: Abandoned, Reason: reason, Scheduler: "a", Taken: 1})
	c = expecting(1, 2, nil)
	c.Submit(0, 0)
	ends(t, c.Abandon(ms, "enough"), Ending{Task: 0, Cause: Abandoned, Reason: "enough", Scheduler: "a", Taken: 1},
		Ending{Task: 1, Cause: Abandoned, Reason: "enough", Sent: Never})
	if c.Open() != 0 {
		t.Errorf("%d open", c.Open())
	}
}

// The time to wait for results begins with the last submission.
func TestTimeout(t *testing.T) {
	c := expecting(1, 2, func(cfg *ClientConfig) { many(cfg); cfg.Timeout = 5 * time.Second })
	if actions := c.Submit(0, 0); actions.Wake != Never {
		t.Errorf("wakes at %v", actions.Wake)
	}
	if actions := c.Submit(time.Second, 1); actions.Wake != 6*time.Second {
		t.Errorf("wakes at %v", actions.Wake)
	}
	reason := "abandoned: no result within 5s after the last submission"
	if actions := c.Tick(6 * time.Second); len(actions.Ended) != 2 || actions.Ended[0].Reason != reason {
		t.Errorf("ended %+v", actions.Ended)
	}
}

func TestFailureOf(t *testing.T) {
	for code, want := range map[cluster.ErrorCode]Failure{0: Unanswered,
		cluster.Draining: Draining, cluster.Overloaded: Overloaded, cluster.Stale: Replaced,
		cluster.Invalid: Faulty} {
		if got := FailureOf(code); got != want {
			t.Errorf("%v: %v, want %v", code, got, want)
		}
	}
}

// A task's way costs no memory of its own.
func TestNoAllocations(t *testing.T) {
	const n = 2000
	c := expecting(3, n, many)
	task, one := int32(0), records(1, "")
	if got := testing.AllocsPerRun(n-1, func() {
		m := c.Submit(0, task).Send[0]
		c.Accepted(0, m, nil)
		one.Records[0].ID = c.tasks[task].id
		if actions := c.Collected(0, m.Scheduler, one); len(actions.Ended) != 1 {
			t.Fatal("not ended")
		}
		task++
	}); got > 0 {
		t.Errorf("%v allocations per task", got)
	}
}
