package worker

import (
	"time"

	"dodoor/internal/cluster"
)

// Reporter keeps a node registered with the data service and its state reported: after completions, and as a
// heartbeat when there are none. At most one request is under way. A report is the whole state, so one says
// everything that came due before it, and one that does not arrive is not repeated.
//
// Its shell calls Post when Actions say so, Answered or Failed when a request has come back, and after each of
// them Next, which says what follows.
type Reporter struct {
	heartbeat  time.Duration
	asked      Request // under way
	registered bool
	admitted   bool          // it was registered at some time
	due        bool          // the state has changed since the last report
	at         time.Duration // of the next request that nobody posts: a heartbeat, or another attempt to register
	since      time.Duration // it tries to register; -1: not yet
}

// Request is what a node asks the data service.
type Request uint8

const (
	NoRequest Request = iota
	RegisterRequest
	ReportRequest    // to take its state, which has changed
	HeartbeatRequest // to take its state, which has not
)

// GiveUpName is how long a name that another process holds is waited for.
const GiveUpName = 30 * time.Second

// NewReporter returns the reporter of a node that is not registered yet and is heard at least this often.
func NewReporter(heartbeat time.Duration) Reporter { return Reporter{heartbeat: heartbeat, since: -1} }

// Post says that the node's state has changed.
func (r *Reporter) Post() { r.due = true }

// Next returns what is to be sent now. If that is nothing, wake is when Next is to be called again, or 0: not
// before another verb.
func (r *Reporter) Next(now time.Duration) (ask Request, wake time.Duration) {
	switch {
	case r.asked != NoRequest:
		return NoRequest, 0
	case r.registered && r.due:
		ask = ReportRequest
	case now < r.at:
		return NoRequest, r.at
	case r.registered:
		ask = HeartbeatRequest
	default:
		ask = RegisterRequest
		if r.since < 0 {
			r.since = now
		}
	}
	r.asked, r.due = ask, false
	return ask, 0
}

// Answered takes the data service's answer; 0: it did as asked. A data service that does not know the node
// has restarted: the node registers again, and reports at once. It is over when the answer to a registration
// will not change: then the node must end.
func (r *Reporter) Answered(now time.Duration, code cluster.ErrorCode) (over bool) {
	registers := r.asked == RegisterRequest
	r.rest(now)
	switch {
	case registers && code == 0:
		r.registered, r.admitted, r.due = true, true, true
	case registers:
		r.admitted = r.admitted && code != cluster.DuplicateNode // schedulers will know another one by this name
		return code == cluster.Stale || code == cluster.Invalid || code == cluster.Denied ||
			code == cluster.DuplicateNode && now-r.since > GiveUpName
	case code == cluster.UnknownNode || code == cluster.Stale:
		r.registered, r.since, r.at = false, -1, now
	}
	return false
}

// Failed says that nobody answered. Whether the request arrived does not matter: a registration is repeated,
// and of reports the next heartbeat says everything.
func (r *Reporter) Failed(now time.Duration) { r.rest(now) }

// rest ends a request.
func (r *Reporter) rest(now time.Duration) {
	r.at = now + r.heartbeat
	if r.asked == RegisterRequest {
		r.at = now + cluster.RegisterEvery
	}
	r.asked = NoRequest
}

// Registered reports whether the data service knows the node, as far as the node can tell.
func (r *Reporter) Registered() bool { return r.registered }

// Admitted reports whether the data service has ever known this process. Then schedulers know it, and go on placing here
// when the data service is away, or has forgotten the node.
func (r *Reporter) Admitted() bool { return r.admitted }
