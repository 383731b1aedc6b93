package datastore

import "time"

// silence is the clock that every silence is measured on. A service that was paused, starved or cut off has heard nobody,
// and that says nothing about the others. So time in which it did not even look at the clock counts for a quarter of the node
// timeout at most, and so does time in which there was no message from anybody. When a scheduler speaks before long, the time
// before counts after all: the service was not cut off, there was nothing to say. And nobody at all for three node timeouts
// are all gone. When no worker at all was heard for a whole node timeout, each gets a whole one again with the first that is:
// their connections come back one by one, as after a restart of the data service.
type silence struct {
	limit   time.Duration // the node timeout
	looked  time.Duration // when the service looked at the clock last
	awake   time.Duration // so long it was not paused until then
	heard   time.Duration // awake when a message came last, from anybody
	at      time.Duration // what the clock showed then
	workers time.Duration // when one came last from a worker
	anew    time.Duration // on the clock: no silence has begun before
}

// everybody is how many node timeouts without any message mean that all are gone.
const everybody = 3

// quiet returns for how long nobody was heard while the service was awake.
func (s *silence) quiet(now time.Duration) time.Duration {
	return s.awake + min(now-s.looked, s.limit/4) - s.heard
}

// look takes note that the service is awake.
func (s *silence) look(now time.Duration) {
	s.awake += min(now-s.looked, s.limit/4)
	s.looked = now
}

// now returns what the clock shows.
func (s *silence) now(now time.Duration) time.Duration {
	quiet := s.quiet(now)
	if quiet > everybody*s.limit {
		return s.at + quiet
	}
	return s.at + min(quiet, s.limit/4)
}

// hear takes a message from a scheduler. Idle ones ask every two seconds.
func (s *silence) hear(now time.Duration) {
	if quiet := s.quiet(now); quiet <= s.limit-s.limit/10 {
		s.take(now, s.at+quiet)
		return
	}
	s.take(now, s.now(now))
}

// take begins to count anew.
func (s *silence) take(now, shows time.Duration) {
	s.look(now)
	s.at, s.heard = shows, s.awake
}

// hearWorker takes a message from a worker, and returns what the clock shows.
func (s *silence) hearWorker(now time.Duration) time.Duration {
	s.take(now, s.now(now))
	if now-s.workers > s.limit {
		s.anew = s.at
	}
	s.workers = now
	return s.at
}

// since returns how long a silence has lasted that began when the clock showed begin.
func (s *silence) since(now, begin time.Duration) time.Duration {
	return s.now(now) - max(begin, s.anew)
}
