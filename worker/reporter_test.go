package worker

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

var requestNames = [...]string{"", "register", "report", "heartbeat"}

// asks is what Next says: a request to send, when to ask again, or nothing.
func (r *Reporter) asks(now time.Duration) string {
	ask, wake := r.Next(now)
	if wake > 0 {
		return "again at " + wake.String()
	}
	return requestNames[ask]
}

// newReporter is one with a heartbeat of ten seconds that has reported at time 0.
func newReporter(t *testing.T) *Reporter {
	t.Helper()
	r := NewReporter(10 * time.Second)
	expect(t, "first of all", r.asks(0), "register")
	expect(t, "registered", []any{r.Registered(), r.Admitted(), r.Answered(0, 0), r.Registered(), r.Admitted()},
		[]any{false, false, false, true, true})
	expect(t, "reports at once", r.asks(0), "report")
	r.Answered(0, 0)
	return &r
}

func TestRegistersUntilAnswered(t *testing.T) {
	r := NewReporter(10 * time.Second)
	expect(t, "at once", r.asks(time.Second), "register")
	r.Post()
	expect(t, "one request under way", r.asks(2*time.Second), "")
	r.Failed(3 * time.Second)
	expect(t, "a pause", r.asks(3*time.Second), "again at 3.1s")
	r.Post()
	expect(t, "nobody would know whose report it is", r.asks(3*time.Second), "again at 3.1s")
	expect(t, "again", r.asks(3100*time.Millisecond), "register")
	r.Answered(4*time.Second, cluster.Overloaded)
	expect(t, "and again", []string{r.asks(4 * time.Second), r.asks(5 * time.Second)}, []string{"again at 4.1s", "register"})
	r.Answered(5*time.Second, 0)
	expect(t, "one report says all that came due", r.asks(5*time.Second), "report")
	r.Answered(6*time.Second, 0)
	expect(t, "then silence", r.asks(6*time.Second), "again at 16s")
}

func TestAReportAbsorbsThoseDueMeanwhile(t *testing.T) {
	r := newReporter(t)
	r.Post()
	expect(t, "at once", r.asks(time.Second), "report")
	for range 3 {
		r.Post()
		expect(t, "one under way", r.asks(2*time.Second), "")
	}
	r.Answered(3*time.Second, 0)
	expect(t, "one more", r.asks(3*time.Second), "report")
	r.Answered(4*time.Second, 0)
	expect(t, "no further one", r.asks(4*time.Second), "again at 14s")
}

func TestHeartbeatAfterSilence(t *testing.T) {
	r := newReporter(t)
	expect(t, "silence", r.asks(0), "again at 10s")
	r.Post()
	r.asks(9 * time.Second)
	r.Answered(9500*time.Millisecond, 0)
	expect(t, "a report is as good", r.asks(10*time.Second), "again at 19.5s")
	expect(t, "when nothing was posted", r.asks(19500*time.Millisecond), "heartbeat")
	r.Answered(20*time.Second, 0)
	r.Post()
	expect(t, "when both are due", r.asks(30*time.Second), "report")
	r.Answered(30*time.Second, 0)
	expect(t, "one is enough", r.asks(30*time.Second), "again at 40s")
}

func TestAReportThatFailsIsNotRepeated(t *testing.T) {
	r := newReporter(t)
	for _, refused := range []cluster.ErrorCode{0, cluster.Overloaded} {
		r.Post()
		r.asks(time.Second)
		if refused == 0 {
			r.Failed(time.Second)
		} else {
			expect(t, "over", r.Answered(time.Second, refused), false)
		}
		expect(t, "the next heartbeat says everything", []any{r.asks(time.Second), r.Registered()}, []any{"again at 11s", true})
	}
}

func TestRegistersAgain(t *testing.T) {
	for _, code := range []cluster.ErrorCode{cluster.UnknownNode, cluster.Stale} {
		r := newReporter(t)
		r.asks(10 * time.Second)
		r.Post()
		expect(t, "over", r.Answered(11*time.Second, code), false)
		expect(t, "at once", []any{r.Registered(), r.Admitted(), r.asks(11 * time.Second)}, []any{false, true, "register"})
		r.Answered(12*time.Second, 0)
		expect(t, "and reports at once", []any{r.Registered(), r.asks(12 * time.Second)}, []any{true, "report"})
		r.Answered(12*time.Second, 0)
		expect(t, "once", r.asks(12*time.Second), "again at 22s")
	}
}

func TestRegistrationsThatAreOver(t *testing.T) {
	for _, c := range []struct {
		code  cluster.ErrorCode
		after time.Duration
		over  bool
	}{
		{cluster.Stale, 2 * time.Second, true},
		{cluster.Invalid, 2 * time.Second, true},
		{cluster.DuplicateNode, GiveUpName, false},
		{cluster.DuplicateNode, GiveUpName + 1, true},
		{cluster.UnknownNode, time.Hour, false},
		{cluster.Overloaded, time.Hour, false},
	} {
		r := newReporter(t)
		r.asks(time.Hour)
		r.Answered(time.Hour, cluster.UnknownNode)
		r.asks(time.Hour) // a name gets the same time with every registration, however long the node has been there
		r.Failed(time.Hour + time.Second)
		r.asks(time.Hour + 2*time.Second)
		if over := r.Answered(time.Hour+c.after, c.code); over != c.over {
			t.Errorf("%v after %v: over is %v", c.code, c.after, over)
		}
	}
}
