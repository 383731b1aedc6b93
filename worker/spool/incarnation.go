package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"dodoor/internal/cluster"
	"dodoor/internal/wholefile"
)

// incarnationFile holds the number of the last process of the worker that had the folder.
const incarnationFile = "incarnation"

// Incarnation returns the number of this process of the worker: above that of every earlier one that had the folder, however the clock
// was set, and the clock's otherwise. It is on disk before anybody hears of it. Without a spool, or with one among the temporary
// files, it is the clock's.
func (s *Spool) Incarnation(clock int64) (int64, error) {
	if s == nil || s.private {
		return clock, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own, err := s.incarnation(clock)
	if err != nil {
		return 0, fmt.Errorf("worker %s: worker.spool: %w", s.cfg.Worker, err)
	}
	return own, nil
}

func (s *Spool) incarnation(clock int64) (int64, error) {
	if err := s.open(); err != nil {
		return 0, err
	}
	path := filepath.Join(s.cfg.Folder, incarnationFile)
	var last int64
	switch text, err := os.ReadFile(path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return 0, err
	default:
		if last, err = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err != nil || last < 0 {
			return 0, fmt.Errorf("%s does not hold a number: remove it, if the clock was not set back since the worker ran last", path)
		}
	}
	own := cluster.NextIncarnation(last, clock)
	return own, wholefile.Write(path, strconv.AppendInt(nil, own, 10))
}
