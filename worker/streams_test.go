package worker

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// codes lists the refusals as number=code.
func codes(r cluster.EnqueueReply) string {
	list := ""
	for _, refusal := range r.Refused {
		list += fmt.Sprintf(" %d=%s", refusal.Number, refusal.Code)
	}
	return list
}

func notice(t *testing.T, n *Node, scheduler string) Notice {
	t.Helper()
	notice, ok := n.Notice(0, scheduler, 100)
	if !ok {
		t.Fatalf("no completions wait for %s", scheduler)
	}
	return notice
}

func idle(t *testing.T, n *Node) {
	t.Helper()
	stats := n.Stats(0)
	if !stats.Load.IsZero() || stats.Reserved != (cluster.Resources{}) || stats.Running+stats.Queued+stats.Unacknowledged != 0 {
		t.Errorf("not idle: %+v", stats)
	}
	if n.held.oldest != nil || n.held.newest != nil || len(n.held.byID) != 0 {
		t.Errorf("%d tasks are still held", len(n.held.byID))
	}
}

func TestRepeatedMessageChangesNothing(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	m := s.message(n, s.place("a", shape(1, 1, 1)), s.place("big", shape(99, 1, 1)))
	first, _, _ := n.Enqueue(0, m)
	expect(t, "first", codes(first), " 2=never fits")
	again, actions, err := n.Enqueue(time.Second, m)
	expect(t, "again", []any{codes(again), started(actions), err}, []any{" 2=not held", "", nil})
	expect(t, "R", n.Report(0).Received[0].Received, s.placed)

	finished(n, 2*time.Second, "a")
	again, actions, _ = n.Enqueue(3*time.Second, m)
	expect(t, "ended, not acknowledged: still held", []any{codes(again), actions.Notify}, []any{" 2=not held", []string{"s"}})
	done := notice(t, n, "s")
	n.Acknowledged(&done)
	again, _, _ = n.Enqueue(4*time.Second, m)
	expect(t, "acknowledged: gone", codes(again), " 1=not held 2=not held")
	idle(t, n)
}

// Placements that a scheduler gave up never arrive; the numbers after them account for them.
func TestAMessageHealsTheStream(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "a", shape(1, 1, 1))
	s.place("lost", shape(2, 1, 1))
	if _, _, err := n.Enqueue(0, s.message(n)); err != nil {
		t.Fatal(err)
	}
	r := n.Report(0)
	expect(t, "R", r.Received, []cluster.Received{{Scheduler: "s", Incarnation: 1, Number: 2, Received: s.placed}})
	expect(t, "load", r.Load, cluster.LoadOf(shape(1, 1, 1)))
	late := s.message(n)
	late.Number, late.Placed = 1, cluster.Load{}
	n.Enqueue(0, late)
	expect(t, "an older message leaves R alone", n.Report(0).Received[0].Received, s.placed)
}

func TestContradictoryNumbersAreInvalid(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	a, b := s.place("a", shape(1, 1, 1)), s.place("b", shape(1, 1, 1))
	beyond, zero := b, a
	beyond.Number, zero.Number = 3, 0
	negative := s.message(n)
	negative.Number = -1
	for name, m := range map[string]*cluster.Enqueue{
		"descending": s.message(n, b, a), "twice": s.message(n, a, a), "beyond": s.message(n, beyond),
		"zero": s.message(n, zero), "negative": negative,
	} {
		_, _, err := n.Enqueue(0, m)
		expect(t, name, cluster.CodeOf(err), cluster.Invalid)
	}
	expect(t, "nothing changed", n.Report(0).Received[0].Number, 0)
	idle(t, n)
}

func TestWhoMayEnqueue(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 5)
	for _, c := range []struct {
		name string
		edit func(*cluster.Enqueue)
		want cluster.ErrorCode
	}{
		{"another process of this node", func(e *cluster.Enqueue) { e.NodeIncarnation-- }, cluster.Stale},
		{"an older scheduler process", func(e *cluster.Enqueue) { e.Scheduler.Incarnation-- }, cluster.Stale},
		{"a newer scheduler process", func(e *cluster.Enqueue) { e.Scheduler.Incarnation++ }, cluster.UnknownScheduler},
		{"a stranger", func(e *cluster.Enqueue) { e.Scheduler.Name = "x" }, cluster.UnknownScheduler},
	} {
		m := s.message(n)
		c.edit(m)
		_, _, err := n.Enqueue(0, m)
		expect(t, c.name, cluster.CodeOf(err), c.want)
	}
}

func TestAttach(t *testing.T) {
	n := newNode(t)
	for _, bad := range []cluster.SchedulerRef{{Name: "", Incarnation: 1}, {Name: "s"}} {
		_, _, err := n.Attach(0, bad)
		expect(t, "malformed", cluster.CodeOf(err), cluster.Invalid)
	}
	s := attach(t, n, "s", 5)
	s.enqueue(t, n, 0, "a", shape(1, 1, 1))
	resumed, _, err := n.Attach(0, s.ref)
	expect(t, "resumed", []any{resumed.Incarnation, resumed.Number, err}, []any{7, 1, nil})
	_, _, err = n.Attach(0, cluster.SchedulerRef{Name: "s", Incarnation: 4})
	expect(t, "older", cluster.CodeOf(err), cluster.Stale)
}

// A newer process of a scheduler starts afresh; what the older one placed runs on, and its result
// waits for whoever asks, until it expires.
func TestNewerProcessReplacesOlder(t *testing.T) {
	n := newNode(t)
	old := attach(t, n, "s", 1)
	old.enqueue(t, n, 0, "done", shape(1, 1, 1))
	old.enqueue(t, n, 0, "runs", shape(2, 1, 1))
	finished(n, time.Second, "done")
	reply, _, err := n.Attach(time.Second, cluster.SchedulerRef{Name: "s", Incarnation: 2})
	expect(t, "attach", []any{reply.Number, err, reply.Report.Received}, []any{0, nil, []cluster.Received{{Scheduler: "s", Incarnation: 2}}})
	expect(t, "its task stays", n.Report(0).Load, cluster.LoadOf(shape(2, 1, 1)))
	actions := finished(n, 2*time.Second, "runs")
	expect(t, "nobody to notify", actions.Notify, []string{})
	if _, ok := n.Notice(0, "s", 10); ok {
		t.Error("the new process got the old one's completions")
	}
	expect(t, "kept", n.Stats(0).Unacknowledged, 2)
	now := &client{ref: cluster.SchedulerRef{Name: "s", Incarnation: 2}}
	_, actions, _ = n.Enqueue(3*time.Second, now.message(n, now.place("runs", shape(2, 1, 1))))
	expect(t, "placed again after the crash: not run again", []any{started(actions), actions.Notify}, []any{"", []string{"s"}})
	done := notice(t, n, "s")
	expect(t, "its number", done.Message.Completions[0].Number, 1)
	n.Acknowledged(&done)
	expect(t, "expired", n.Expire(2*time.Second+n.cfg.Limits.RetainFor), 2)
	idle(t, n)
}

// A client that tried again at another scheduler: the task runs once, and both schedulers are told.
func TestOneExecutionForTwoSchedulers(t *testing.T) {
	n := newNode(t)
	a, b, c := attach(t, n, "a", 1), attach(t, n, "b", 1), attach(t, n, "c", 1)
	one := shape(1, 1, 1)
	a.enqueue(t, n, 0, "t", one)
	expect(t, "second placement", started(b.enqueue(t, n, 0, "t", one)), "")
	expect(t, "load", n.Report(0).Load, cluster.LoadOf(one))
	actions := finished(n, 1, "t")
	expect(t, "notify", actions.Notify, []string{"a", "b"})
	expect(t, "ended: a third is told at once", c.enqueue(t, n, 1, "t", one).Notify, []string{"c"})
	for _, name := range []string{"a", "b", "c"} {
		done := notice(t, n, name)
		expect(t, name, []any{len(done.Message.Completions), done.Message.Completions[0].Outcome}, []any{1, cluster.Finished})
		n.Acknowledged(&done)
	}
	idle(t, n)
}

func TestSameSchedulerPlacesAgain(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	one := shape(1, 1, 1)
	s.enqueue(t, n, 0, "t", one)
	expect(t, "given up and placed again", started(s.enqueue(t, n, 0, "t", one)), "")
	finished(n, 1, "t")
	done := notice(t, n, "s")
	expect(t, "one completion, newest number", []any{len(done.Message.Completions), done.Message.Completions[0].Number}, []any{1, 2})
	s.enqueue(t, n, 1, "t", one) // while the notice is under way
	n.Acknowledged(&done)
	done = notice(t, n, "s")
	expect(t, "told again under the newer number", done.Message.Completions[0].Number, 3)
	n.Acknowledged(&done)
	idle(t, n)
}

// A task was given up, placed again by another scheduler, and ended. Whoever had it given up and repeats its
// message is told that nobody holds it, and that it was lost: either way it places the task elsewhere.
func TestAGivenUpTaskIsNotHeldAgain(t *testing.T) {
	n := newNode(t)
	first, second := attach(t, n, "s1", 1), attach(t, n, "s2", 1)
	m := first.message(n, first.place("a", shape(1, 1, 1)))
	n.Enqueue(0, m)
	n.Abandon(0, "restart")
	n.Drain(false)
	second.enqueue(t, n, 0, "a", shape(1, 1, 1))
	reply, _, _ := n.Enqueue(0, m)
	expect(t, "while it runs for the other", codes(reply), " 1=not held")
	finished(n, 0, "a")
	done := notice(t, n, "s2")
	expect(t, "the other's end", done.Message.Completions[0].Outcome, cluster.Finished)
	n.Acknowledged(&done)
	reply, _, _ = n.Enqueue(0, m)
	expect(t, "after that", codes(reply), " 1=not held")
	lost := notice(t, n, "s1")
	expect(t, "its own end", []any{len(lost.Message.Completions), lost.Message.Completions[0].Outcome}, []any{1, cluster.Lost})
	n.Acknowledged(&lost)
	idle(t, n)
}

func TestSameIDAnotherTask(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	s.enqueue(t, n, 0, "t", shape(1, 1, 1))
	reply, _, _ := n.Enqueue(0, s.message(n, s.place("t", onGPUs(shape(1, 1, 1), 1))))
	expect(t, "refused", codes(reply), " 2=duplicate task")
}

func TestSchedulersAreBounded(t *testing.T) {
	n := newNode(t)
	busy := attach(t, n, "busy", 1)
	busy.enqueue(t, n, 0, "t", shape(1, 1, 1))
	for i := range MaxSchedulers - 1 {
		if _, _, err := n.Attach(time.Duration(i+1), cluster.SchedulerRef{Name: fmt.Sprint(i), Incarnation: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := n.Attach(1e6, cluster.SchedulerRef{Name: "new", Incarnation: 1}); err != nil {
		t.Fatal(err)
	}
	expect(t, "attached", len(n.streams), MaxSchedulers)
	for name, stays := range map[string]bool{"busy": true, "0": false, "1": true, "new": true} {
		expect(t, name+" stays", n.streams.find(name) != nil, stays)
	}
	for _, s := range n.streams {
		s.active = 1
	}
	_, _, err := n.Attach(1e6, cluster.SchedulerRef{Name: "one too many", Incarnation: 1})
	expect(t, "all busy", cluster.CodeOf(err), cluster.Overloaded)
}

func TestRidersCarryOneStream(t *testing.T) {
	n := newNode(t)
	attach(t, n, "a", 1)
	b := attach(t, n, "b", 1)
	b.ref.Riders = true
	if _, _, err := n.Attach(0, b.ref); err != nil {
		t.Fatal(err)
	}
	reply, _, _ := n.Enqueue(0, b.message(n, b.place("t", shape(1, 1, 1))))
	expect(t, "acknowledgement", reply.Report.Received, []cluster.Received{{Scheduler: "b", Incarnation: 1, Number: 1, Received: b.placed}})
	finished(n, 1, "t")
	done := notice(t, n, "b")
	expect(t, "newer", done.Message.Report.Sequence > reply.Report.Sequence, true)
	expect(t, "the data service hears of all", len(n.Report(0).Received), 2)
}
