package generator

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// The time to wait for results begins with the last task that is submitted; asking for nothing more does not begin it
// anew, nor does it begin while something is still to come.
func TestTimeoutBeginsOnce(t *testing.T) {
	c := expecting(1, 2, func(cfg *ClientConfig) { many(cfg); cfg.Timeout = 5 * time.Second })
	for _, step := range []struct {
		at    time.Duration
		tasks []int32
		wake  time.Duration
	}{{0, nil, Never}, {time.Second, []int32{0}, Never}, {2 * time.Second, []int32{1}, 7 * time.Second},
		{3 * time.Second, nil, 7 * time.Second}, {4 * time.Second, []int32{0, 1}, 7 * time.Second}} {
		if got := c.Submit(step.at, step.tasks...).Wake; got != step.wake {
			t.Errorf("at %v, with tasks %v: wakes at %v, want %v", step.at, step.tasks, got, step.wake)
		}
	}
	if got := expecting(1, 0, func(cfg *ClientConfig) { cfg.Timeout = time.Second }).Submit(0).Wake; got != Never {
		t.Errorf("without tasks it wakes at %v", got)
	}
}

// While no scheduler answers, it wakes when patience ends, for tasks that are still to come as for those that wait;
// when nothing is left that a scheduler could take, it waits for nothing.
func TestWakesWhenPatienceEnds(t *testing.T) {
	patience := func(cfg *ClientConfig) { many(cfg); cfg.Patience = 3 * time.Second }
	c := expecting(1, 1, patience)
	if got := c.PollFailed(time.Second, 0, Gone, errTest).Wake; got != 4*time.Second {
		t.Errorf("a task is still to come: wakes at %v, want 4s", got)
	}
	if got := c.Submit(2*time.Second, 0).Wake; got != 4*time.Second {
		t.Errorf("a task waits: wakes at %v, want 4s", got)
	}
	if got := expecting(1, 0, patience).PollFailed(time.Second, 0, Gone, errTest).Wake; got != Never {
		t.Errorf("no task: wakes at %v", got)
	}
}

// With a share for the first scheduler the others take strict turns with the rest.
func TestTheOthersTakeTurns(t *testing.T) {
	c := expecting(4, 0, func(cfg *ClientConfig) { cfg.Skew = 0.4 })
	first, others := 0, int32(0)
	for i := range int32(1000) {
		switch got := c.preferred(i); got {
		case 0:
			first++
		case 1 + others%3:
			others++
		default:
			t.Fatalf("task %d prefers scheduler %d, and it is the turn of %d", i, got, 1+others%3)
		}
	}
	if first != 400 {
		t.Errorf("%d of 1000 prefer the first, want 400", first)
	}
}

// A scheduler that did not answer the first poll may have restarted since: what it took before goes elsewhere. One
// that answers it for the first time has what it took.
func TestTasksTakenBeforeTheFirstAnswer(t *testing.T) {
	for failed, want := range map[bool]string{false: "", true: "a[0]"} {
		c := NewClient(ClientConfig{Schedulers: []cluster.SchedulerRef{named("a")}, MaxBatch: 8})
		c.Expect("t0", false)
		c.Start(0)
		m := sends(t, c.Submit(0, 0), "a[0]")
		if c.Accepted(0, m[0], nil); failed {
			c.PollFailed(ms, 0, Unanswered, errTest)
		}
		sends(t, c.Collected(2*ms, 0, records(1)), want)
	}
}

// A task's row is its record's where there is one; else it says what became of the task, and who had it.
func TestRowsOfEndings(t *testing.T) {
	w, err := NewWorkload([]Request{{ID: "t0"}}, Options{Pacing: Pacing{TraceScale: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Ending{
		{Cause: Collected, Record: &cluster.TaskRecord{Outcome: cluster.TimedOut, Scheduler: "b", Attempts: 1}, Taken: 1, Sent: ms},
		{Cause: Refused, Reason: "because", Scheduler: "a", Sent: ms},
		{Cause: NotSubmitted, Reason: "because", Scheduler: "a", Sent: Never},
		{Cause: Abandoned, Reason: "because", Scheduler: "a", Taken: 2, Sent: ms},
	} {
		row := e.Row(w, 0)
		outcome, scheduler, attempts := outcomes[e.Cause], e.Scheduler, e.Taken
		if e.Record != nil {
			outcome, scheduler = e.Record.Outcome, e.Record.Scheduler
		}
		if row.TaskID != "t0" || row.Outcome != outcome || row.Scheduler != scheduler || row.Attempts != attempts || row.Reason != e.Reason ||
			row.Sent != e.Sent {
			t.Errorf("%+v: %+v", e, row)
		}
	}
}

// What has ended while it waited for a connection is not sent any more, and what waits behind it is.
func TestEndedTasksAreNotSent(t *testing.T) {
	c := expecting(1, 2, nil)
	m := sends(t, c.Submit(0, 0, 1), "a[0]")
	c.Stop(ms) // the other one was never sent
	sends(t, c.Accepted(2*ms, m[0], nil), "")

	c = expecting(2, 3, nil)
	m = sends(t, c.Submit(0, 0), "a[0]")
	c.Accepted(0, sends(t, c.Submit(0, 1), "b[1]")[0], nil)
	sends(t, c.PollFailed(ms, 1, Gone, errTest), "") // its task waits for the other scheduler now
	sends(t, c.Submit(2*ms, 2), "")
	actions := c.Collected(3*ms, 1, records(1, "t1")) // and has ended after all
	if len(actions.Ended) != 1 || actions.Ended[0].Task != 1 {
		t.Fatalf("ended %+v", actions.Ended)
	}
	sends(t, c.Accepted(4*ms, m[0], nil), "a[2]")
}

// Tasks are numbered in the order in which they are expected.
func TestNumbersOfTasks(t *testing.T) {
	c := NewClient(ClientConfig{Schedulers: []cluster.SchedulerRef{named("a")}})
	for want := range int32(3) {
		if got := c.Expect(string(rune('a'+want)), false); got != want {
			t.Errorf("task %d, want %d", got, want)
		}
	}
}

// What has ended while it waited for a scheduler does not go to another one when that is lost.
func TestEndedTasksDoNotMove(t *testing.T) {
	c := expecting(2, 3, nil)
	m := sends(t, c.Submit(0, 0, 2), "a[0]")
	c.Stop(ms)
	m = sends(t, c.Failed(2*ms, m[0], Gone, errTest), "b[0]")
	sends(t, c.Accepted(3*ms, m[0], nil), "")
}

// A refusal concerns the task that it names, if that waits for this answer; the others of the message are accepted,
// also behind one whose result came before the answer.
func TestWhomARefusalConcerns(t *testing.T) {
	c := expecting(2, 5, many)
	m := sends(t, c.Submit(0, 0, 2, 4), "a[0 2 4]")
	if actions := c.Collected(ms, 0, records(1, "t2")); len(actions.Ended) != 1 {
		t.Fatalf("ended %+v", actions.Ended)
	}
	ends(t, c.Accepted(2*ms, m[0], []cluster.Refusal{{TaskID: "stranger", Code: cluster.NoFeasibleNode}}))
	sends(t, c.PollFailed(3*ms, 0, Gone, errTest), "b[0 4]") // it had accepted both

	c = expecting(2, 2, many)
	m = sends(t, c.Submit(0, 0), "a[0]")
	c.Accepted(0, m[0], nil)
	other := sends(t, c.Submit(0, 1), "b[1]")
	ends(t, c.Accepted(ms, other[0], []cluster.Refusal{{TaskID: "t0", Code: cluster.NoFeasibleNode}}))
}

// A task of a message that failed over one of them travels alone, whatever waits behind it.
func TestSuspiciousTasksTravelAlone(t *testing.T) {
	c := expecting(1, 3, func(cfg *ClientConfig) { cfg.MaxBatch = 8 })
	m := sends(t, c.Submit(0, 0, 1), "a[0 1]")
	m = sends(t, c.Failed(0, m[0], Faulty, errTest), "a[0]")
	sends(t, c.Submit(0, 2), "")
	m = sends(t, c.Accepted(0, m[0], nil), "a[1]")
	sends(t, c.Accepted(0, m[0], nil), "a[2]")
}

// An ending names the scheduler that had the task, whichever that is, and none where nobody had it.
func TestEndingsNameTheScheduler(t *testing.T) {
	c := expecting(3, 4, many)
	c.Submit(0, 0, 1, 2)
	for i, want := range []string{"a", "b", "c", ""} {
		if i == 0 {
			c.Abandon(ms, "enough")
		}
		if e := c.actions.Ended[i]; e.Scheduler != want {
			t.Errorf("task %d was with %q, want %q", e.Task, e.Scheduler, want)
		}
	}
}

// A poll of a scheduler that is known waits there for results, so that an idle one is not asked all the time; not so long
// that its silence is noticed late.
func TestPollsWait(t *testing.T) {
	c := expecting(1, 1, nil)
	if p := c.Collected(ms, 0, records(1)).Poll[0]; p.Wait < 100*ms || p.Wait > 500*ms {
		t.Errorf("a poll waits %v", p.Wait)
	}
}
