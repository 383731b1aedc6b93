package worker

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A command that failed, or was cancelled, is tried once more as soon as its scheduler has heard of that, which is before
// this node knows that it has. The first end stays to be told. Of what went well, and of the same try, there is no other execution.
func TestFailedCommandsRunAnew(t *testing.T) {
	for _, c := range []struct {
		outcome cluster.Outcome
		attempt int
		anew    bool
	}{
		{cluster.Failed, 2, true}, {cluster.TimedOut, 2, true}, {cluster.Failed, 1, false}, {cluster.Finished, 2, false},
		{cluster.Cancelled, 2, true}, {cluster.Cancelled, 1, false}, {cluster.Lost, 1, true},
	} {
		n := newNode(t, commands)
		s := attach(t, n, "s", 1)
		place := func(attempt int) Actions {
			a := s.place("t", shape(1, 1, 1))
			bringing(&a, "x", true)
			a.Attempt = attempt
			reply, actions, err := n.Enqueue(time.Second, s.message(n, a))
			if err != nil || len(reply.Refused) > 0 {
				t.Fatal(reply, err)
			}
			return Actions{Start: append([]Start(nil), actions.Start...)}
		}
		place(1)
		n.Finished(2*time.Second, "t", Result{Outcome: c.outcome, ExitCode: 1})
		again := place(c.attempt)
		if (len(again.Start) > 0) != c.anew {
			t.Errorf("%v, try %d: runs anew: %v", c.outcome, c.attempt, again.Start)
		}
		if c.anew {
			n.Finished(3*time.Second, "t", Result{Outcome: cluster.Finished})
		}
		notice, ok := n.Notice(4*time.Second, "s", 10)
		if !ok || len(notice.Message.Completions) != 2 || notice.Message.Completions[0].Outcome != c.outcome {
			t.Errorf("%v: told %+v", c.outcome, notice.Message.Completions)
		}
		n.Acknowledged(&notice)
		if left := n.Tasks(cluster.TaskQuery{Max: 10}); len(left) > 0 {
			t.Errorf("%v: held %+v", c.outcome, left)
		}
	}
}
