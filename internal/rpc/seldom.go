package rpc

import (
	"log/slog"
	"sync"
	"time"
)

// seldom writes log lines about what others do wrong, of which there may be any number: a few at once, and then one every so often that
// says how many were left out.
type seldom struct {
	mu   sync.Mutex
	full time.Time // when nothing of what was written counts any more
	out  int       // lines left out since the last one
}

const (
	seldomBurst = 8
	seldomEvery = time.Second
)

// warn writes a line, or counts it.
func (s *seldom) warn(log *slog.Logger, now time.Time, message string, args ...any) {
	if left, write := s.take(now); write {
		if left > 0 {
			args = append(args, "lines_left_out", left)
		}
		log.Warn(message, args...)
	}
}

// take says whether a line may be written, and how many were not since the last one.
func (s *seldom) take(now time.Time) (leftOut int, write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.full.Before(now) {
		s.full = now
	}
	if s.full.Sub(now) > (seldomBurst-1)*seldomEvery {
		s.out++
		return 0, false
	}
	s.full = s.full.Add(seldomEvery)
	leftOut, s.out = s.out, 0
	return leftOut, true
}
