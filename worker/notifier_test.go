package worker

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// mail is a notifier with its node and the scheduler that it tells.
type mail struct {
	*testing.T
	n      *Node
	s      *client
	rules  Notifier
	notice Notice // the last one
}

func newMail(t *testing.T, most int) *mail {
	n := newNode(t)
	return &mail{T: t, n: n, s: attach(t, n, "s", 1), rules: NewNotifier(n, "s", most)}
}

// ends lets tasks begin and end.
func (m *mail) ends(now time.Duration, ids ...string) {
	m.Helper()
	for _, id := range ids {
		m.s.enqueue(m, m.n, now, id, shape(1, 1, 1))
		finished(m.n, now, id)
		m.rules.Post()
	}
}

// next is what Next says: the tasks in the notice to send, when to ask again, or nothing.
func (m *mail) next(now time.Duration) string {
	send, wake := m.rules.Next(now, &m.notice)
	switch {
	case send:
		list := fmt.Sprint("to ", m.notice.To.Incarnation, ":")
		for _, c := range m.notice.Message.Completions {
			list += " " + c.TaskID
		}
		return list
	case wake > 0:
		return "again at " + wake.String()
	}
	return ""
}

func (m *mail) answered(now time.Duration, code cluster.ErrorCode) {
	m.rules.Answered(now, &m.notice, code)
}

func TestOneNoticeUnderWayOldestFirst(t *testing.T) {
	m := newMail(t, 2)
	expect(t, "nothing has ended", m.next(0), "")
	m.ends(0, "a")
	expect(t, "the first", m.next(0), "to 1: a")
	m.ends(1, "b", "c", "d")
	expect(t, "meanwhile", m.next(1), "")
	m.answered(2, 0)
	expect(t, "what gathered, as far as a notice goes", m.next(2), "to 1: b c")
	m.answered(3, 0)
	expect(t, "the rest", m.next(3), "to 1: d")
	m.answered(4, 0)
	expect(t, "all are told", []any{m.next(4), m.rules.Idle(), m.n.Stats(4).Unacknowledged}, []any{"", true, 0})
}

func TestNoticesThatFailAreRepeated(t *testing.T) {
	m := newMail(t, 2)
	m.ends(0, "a")
	m.next(0)
	m.rules.Failed(time.Second)
	m.ends(time.Second, "b", "c")
	expect(t, "a pause, whatever ends", m.next(time.Second), "again at 1.01s")
	expect(t, "not earlier", m.next(1010*time.Millisecond-1), "again at 1.01s")
	expect(t, "with what has gathered", m.next(1010*time.Millisecond), "to 1: a b")
	m.answered(2*time.Second, cluster.Overloaded)
	expect(t, "a scheduler that is busy gets a longer one", m.next(2*time.Second), "again at 2.02s")
	expect(t, "not idle", m.rules.Idle(), false)
	m.next(3 * time.Second)
	m.answered(3*time.Second, 0)
	m.next(3 * time.Second)
	m.rules.Failed(4 * time.Second)
	expect(t, "pauses begin afresh after a notice that was taken", m.next(4*time.Second), "again at 4.01s")
}

func TestNoticesEndWhenResultsExpire(t *testing.T) {
	m := newMail(t, 10)
	keep := m.n.cfg.Limits.RetainFor
	m.ends(0, "a")
	m.next(0)
	for now := time.Duration(0); now < keep; now += time.Second {
		m.rules.Failed(now)
		expect(t, "again", m.next(now+time.Second), "to 1: a")
	}
	m.rules.Failed(keep)
	m.n.Expire(keep)
	expect(t, "nothing is left", []any{m.next(keep + time.Second), m.rules.Idle()}, []any{"", true})
	m.ends(keep+time.Second, "b")
	m.next(keep + time.Second)
	m.rules.Failed(keep + time.Second)
	expect(t, "pauses begin afresh", m.next(keep+time.Second), "again at "+(keep+1010*time.Millisecond).String())
}

func TestResultsOfARestartedScheduler(t *testing.T) {
	m := newMail(t, 10)
	m.ends(0, "a")
	m.next(0)
	m.rules.Failed(0)
	m.next(time.Second)
	m.answered(time.Second, cluster.Stale)
	expect(t, "wait", []any{m.next(time.Hour), m.rules.Idle(), m.n.Stats(time.Second).Unacknowledged}, []any{"", true, 1})
	m.ends(2*time.Second, "b")
	expect(t, "until something ends", m.next(2*time.Second), "to 1: a b")
	m.ends(2*time.Second, "c")
	m.answered(3*time.Second, cluster.Stale)
	expect(t, "at once, if that was meanwhile", m.next(3*time.Second), "to 1: a b c")
	m.rules.Failed(4 * time.Second)
	expect(t, "pauses begin afresh", m.next(4*time.Second), "again at 4.01s")
}

// The new process attaches while a notice to the old one is under way.
func TestNoticeToAFormerProcess(t *testing.T) {
	for _, code := range []cluster.ErrorCode{0, cluster.Stale} {
		m := newMail(t, 10)
		m.ends(0, "a")
		m.next(0)
		m.s = attach(t, m.n, "s", 2)
		m.ends(1, "b")
		m.answered(2, code)
		expect(t, "what is the new one's", m.next(2), "to 2: b")
		m.answered(3, 0)
		expect(t, "and no more", []any{m.next(3), m.n.Stats(3).Unacknowledged}, []any{"", 1})
	}
}

func TestNotifierRetires(t *testing.T) {
	m := newMail(t, 10)
	m.ends(0, "a")
	m.next(0)
	expect(t, "not while a notice is under way", m.rules.Retired(time.Hour), false)
	m.rules.Failed(time.Hour)
	expect(t, "nor before it is repeated", m.rules.Retired(2*time.Hour), false)
	m.next(2 * time.Hour)
	m.answered(3*time.Hour, 0)
	m.next(3 * time.Hour)
	expect(t, "nor as long as it may be used again", m.rules.Retired(3*time.Hour+Linger-1), false)
	expect(t, "but then", m.rules.Retired(3*time.Hour+Linger), true)
	m.rules.Post()
	expect(t, "unless something has just ended", m.rules.Retired(3*time.Hour+Linger), false)
	m.ends(4*time.Hour, "b")
	m.next(4 * time.Hour)
	m.answered(5*time.Hour, cluster.Stale)
	m.next(5 * time.Hour)
	expect(t, "nor soon after an answer", m.rules.Retired(5*time.Hour+Linger-1), false)
	m.rules.Post()
	m.next(6 * time.Hour)
	m.answered(6*time.Hour, 0)
	m.next(7 * time.Hour)
	expect(t, "a look is a use", []any{m.rules.Retired(7*time.Hour + Linger - 1), m.rules.Retired(7*time.Hour + Linger)}, []any{false, true})
}

// The last flush at shutdown: Post makes even what a scheduler did not take go once more, and the notifier is
// idle when there is nobody left to wait for.
func TestLastFlush(t *testing.T) {
	m := newMail(t, 1)
	m.rules.Post()
	expect(t, "nothing to flush", []any{m.next(0), m.rules.Idle()}, []any{"", true})
	m.ends(0, "a", "b")
	m.next(0)
	m.rules.Post()
	m.answered(0, 0)
	expect(t, "the next one", []any{m.next(0), m.rules.Idle()}, []any{"to 1: b", false})
	m.answered(0, cluster.Stale)
	expect(t, "of no use", []any{m.next(0), m.rules.Idle()}, []any{"", true})
	m.rules.Post()
	expect(t, "once more", m.next(1), "to 1: b")
	m.answered(1, 0)
	expect(t, "all are told", []any{m.next(1), m.rules.Idle()}, []any{"", true})
}
