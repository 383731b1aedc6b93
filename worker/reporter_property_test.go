package worker

import (
	"testing"
	"time"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// line is a reporter on a network that loses what it likes, beside a data service that may forget everything.
type line struct {
	rules Reporter
	now   time.Duration
	wake  time.Duration // as the reporter says

	asked   Request       // under way
	carries int           // state in the report under way
	state   int           // of the node: a number that grows
	known   bool          // what the node believes, from the answers
	posted  bool          // since the last report was sent, or registered since
	again   time.Duration // earliest time of the next request that nobody posts

	knows bool // the data service knows the node
	has   int  // this state of it
}

const beat = 10 * time.Second

// look asks what follows, and compares.
func (l *line) look(t *rapid.T) {
	ask, wake := l.rules.Next(l.now)
	l.wake = wake
	want, wantWake := NoRequest, time.Duration(0)
	switch {
	case l.asked != NoRequest:
	case l.known && l.posted:
		want = ReportRequest
	case l.now < l.again:
		wantWake = l.again
	case l.known:
		want = HeartbeatRequest
	default:
		want = RegisterRequest
	}
	if ask != want || wake != wantWake || l.rules.Registered() != l.known {
		t.Fatalf("at %v: %d, wake %v, registered %v; want %d, %v, %v", l.now, ask, wake, l.rules.Registered(), want, wantWake, l.known)
	}
	if ask != NoRequest {
		l.asked, l.carries = ask, l.state
		l.posted = false
	}
}

func (l *line) pass(t *rapid.T) { l.now += passes(t, l.now, l.wake) }

func (l *line) post(*rapid.T) {
	l.state++
	l.posted = true
	l.rules.Post()
}

// forget restarts the data service.
func (l *line) forget(*rapid.T) { l.knows, l.has = false, 0 }

func (l *line) answer(t *rapid.T) {
	if l.asked == NoRequest {
		t.Skip("none is under way")
	}
	l.settle(t, rapid.SampledFrom(fates).Draw(t, "fate"))
}

// settle brings the request under way to its end.
func (l *line) settle(t *rapid.T, fate string) {
	registers := l.asked == RegisterRequest
	l.asked, l.again = NoRequest, l.now+beat
	if registers {
		l.again = l.now + 100*time.Millisecond
	}
	code := cluster.ErrorCode(0)
	switch {
	case fate == "refused":
		code = cluster.Overloaded
	case fate == "not sent":
	case registers:
		l.knows = true
	case l.knows:
		l.has = l.carries
	default:
		code = cluster.UnknownNode
	}
	switch {
	case fate == "not sent" || fate == "answer lost":
		l.rules.Failed(l.now)
		return
	case code == cluster.UnknownNode:
		l.known, l.again = false, l.now
	case registers && code == 0:
		l.known, l.posted = true, true
	}
	if l.rules.Answered(l.now, code) {
		t.Fatalf("over because of %v", code)
	}
}

// heal lets the network work for two heartbeats: then the data service has the node, as it is.
func (l *line) heal(t *rapid.T) {
	for until := l.now + 2*beat; l.now < until; {
		if l.asked != NoRequest {
			l.settle(t, "answered")
		} else {
			l.now = max(l.now, l.wake)
		}
		l.look(t)
	}
	if !l.known || !l.knows || l.has != l.state {
		t.Fatalf("the data service knows the node: %v, with state %d, want %d", l.knows, l.has, l.state)
	}
}

// Whatever is lost, and however often the data service restarts: one request at a time, nothing twice, silence
// for no longer than a heartbeat, and in the end the data service is right.
func TestReporterAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &line{rules: NewReporter(beat)}
		t.Repeat(map[string]func(*rapid.T){
			"post": l.post, "answer": l.answer, "answer again": l.answer, "pass": l.pass, "pass again": l.pass, "forget": l.forget, "": l.look,
		})
		l.heal(t)
	})
}
