package workerd

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// While a later attempt waits for the head of the line, the newest one has printed nothing, here as anywhere. The earlier one
// is there for who asks for it.
func TestOutputOfALaterAttemptThatWaits(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, runsCommands(folder))
		first := b.cfg.Spool.Begin("", "j", "t", 1)
		fmt.Fprint(first.Stdout(), "first")
		first.End()
		begin := time.Now()
		for _, id := range []string{"one", "two"} { // which take both slots for two seconds
			b.sched.command(t, id, "good", "morning")
		}
		b.sched.commandAgain(t, "t", 2, "second")
		for _, c := range []struct {
			q     cluster.OutputRequest
			data  string
			ended bool
			at    time.Duration
		}{
			{cluster.OutputRequest{TaskID: "t"}, "", false, 0},
			{cluster.OutputRequest{TaskID: "t", Attempt: 1}, "first", true, 0},
			{cluster.OutputRequest{TaskID: "t", Wait: time.Minute}, "second\n", false, 3 * time.Second},
			{cluster.OutputRequest{TaskID: "t", Attempt: 1, Wait: time.Minute}, "first", true, 3 * time.Second},
		} {
			got := b.sched.output(t, c.q)
			if string(got.Data) != c.data || c.data != "second\n" && got.Ended != c.ended || time.Since(begin) != c.at {
				t.Errorf("%+v: %+v after %v", c.q, got, time.Since(begin))
			}
		}
		_, err := b.sched.client.Output(t.Context(), cluster.OutputRequest{TaskID: "t", Attempt: 3, Max: 1, Wait: time.Minute})
		if cluster.CodeOf(err) != cluster.UnknownTask || time.Since(begin) != 3*time.Second {
			t.Errorf("an attempt that is nowhere: %v after %v", err, time.Since(begin))
		}
		pass(time.Minute)
	})
}

// What a task printed and is gone is said to be gone, also while its end waits to be told.
func TestOutputThatIsGoneIsLost(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, runsCommands(folder))
		b.sched.answers(func(int) error { return cluster.Errorf(cluster.Overloaded, "later") }) // so that the node holds the task
		b.sched.command(t, "t", "good")
		pass(2 * time.Second)
		if err := b.sched.client.ForgetJob(t.Context(), "j"); err != nil {
			t.Fatal(err)
		}
		c := b.sched.output(t, cluster.OutputRequest{TaskID: "t"})
		if !c.Ended || c.Printed != 5 || c.Kept != 0 || !strings.Contains(c.Loss, "what it printed was removed") {
			t.Errorf("%+v", c)
		}
		b.sched.answers(nil)
		pass(time.Minute)
	})
}
