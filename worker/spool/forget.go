package spool

import "dodoor/internal/cluster"

// Forget removes what the tasks of a job printed, as far as the asker sees them. Of those that run nothing more is kept. From now on
// nobody finds it; the files of a hundred thousand tasks take seconds, in which others must not wait, so they go one after another.
func (s *Spool) Forget(by cluster.Asker, job string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	busy := s.doomed.Len() > 0
	for _, newest := range s.newest {
		for a := newest; a != nil; a = a.older {
			if a.job == job && by.Sees(a.user) {
				s.detach(a)
				s.doomed.PushBack(a)
			}
		}
	}
	if !busy && s.doomed.Len() > 0 {
		s.erasing.Go(s.eraseAll)
	}
}

// eraseAll removes the files of all that is doomed, and lets others in between.
func (s *Spool) eraseAll() {
	for more := true; more; {
		s.mu.Lock()
		more = s.eraseDoomed()
		s.mu.Unlock()
	}
}

// eraseDoomed removes the files of one doomed attempt, if there is one.
func (s *Spool) eraseDoomed() bool {
	first := s.doomed.Front()
	if first == nil {
		return false
	}
	s.erase(s.doomed.Remove(first).(*attempt))
	return true
}
