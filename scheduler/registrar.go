package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// Registrar keeps a replica registered with the data service, and looks now and then whether it still is: one
// that does not flush would never find out. At most one request is under way.
//
// Its shell calls Lost when [Flusher.Answered] says so, Registered, Known or Failed when a request has come
// back, and after each of them Next, which says what follows.
type Registrar struct {
	Flusher *Flusher // learns with which process the replica is registered

	asked Request       // under way
	at    time.Duration // of the next request
}

// Request is what a replica asks the data service about itself.
type Request uint8

const (
	NoRequest       Request = iota
	RegisterRequest         // to take it, and for the whole snapshot
	CheckRequest            // whether it still knows it
)

// checkEvery is how often a replica looks whether the data service is still the same process.
const checkEvery = 2 * time.Second

// Next returns what is to be asked now. If that is nothing, wake is when Next is to be called again, or 0: not
// before another verb.
func (r *Registrar) Next(now time.Duration) (ask Request, wake time.Duration) {
	switch {
	case r.asked != NoRequest:
		return NoRequest, 0
	case now < r.at:
		return NoRequest, r.at
	case r.Flusher.IsRegistered():
		r.asked = CheckRequest
	default:
		r.asked = RegisterRequest
	}
	return r.asked, 0
}

// Lost says that the data service did not take a delta of this replica as its own. One that is not registered
// learns nothing from that.
func (r *Registrar) Lost(now time.Duration) {
	if r.Flusher.IsRegistered() {
		r.Flusher.Registered(0)
		r.at = now
	}
}

// Registered takes the good answer to a registration, by a process of the data service.
func (r *Registrar) Registered(now time.Duration, service int64) {
	r.Flusher.Registered(service)
	r.Known(now)
}

// Known takes the good answer to a check. What a delta has found out since is newer.
func (r *Registrar) Known(now time.Duration) {
	r.asked = NoRequest
	if r.Flusher.IsRegistered() {
		r.at = now + checkEvery
	}
}

// Failed takes an error for an answer, or the lack of one (0): who is not known registers, and who cannot
// register tries again. It is over when the answer to a registration will not change: then the replica must end.
func (r *Registrar) Failed(now time.Duration, code cluster.ErrorCode) (over bool) {
	registers := r.asked == RegisterRequest
	r.asked = NoRequest
	if registers {
		r.at = now + cluster.RegisterEvery
		return code == cluster.Stale || code == cluster.Invalid || code == cluster.Denied
	}
	r.Lost(now)
	return false
}
