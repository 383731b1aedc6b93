// Package spool keeps what the tasks of a worker print, in files: standard output and standard error of every attempt, up to
// a bound per attempt and one in all. It serves ranges of them while they grow and afterwards, also to a later process of
// the worker.
package spool

import (
	"container/list"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"dodoor/internal/cluster"
)

// Config is where a spool is, and how much it takes.
type Config struct {
	Worker    string
	Folder    string // empty: one of the worker's name, among the temporary files
	TaskBytes int64  // of one attempt, both streams together
	Bytes     int64  // of all of them

	// Give gives a file to whom a user's programs run as; nil: it stays this process's.
	Give func(user string, file *os.File) error
}

// What the index and the folder bear beyond bytes.
const (
	fileCost  = 4096    // a file takes at least this much of Config.Bytes
	maxSilent = 10_000  // ended attempts without output that are remembered
	maxEnded  = 250_000 // likewise with output, of 400 bytes each
)

// Spool is safe for concurrent use. A nil one keeps nothing, and counts.
type Spool struct {
	cfg      Config
	private  bool // the folder has to be this user's alone
	mostKept int  // attempts that have ended

	mu     sync.Mutex
	lock   *os.File            // of the folder; nil: it was not needed yet
	newest map[string]*attempt // by task id
	begun  chan struct{}       // closed when an attempt begins; nil: nobody waits for one
	ended  list.List           // of *attempt with files, the oldest first
	silent list.List           // of *attempt without
	doomed list.List           // of *attempt that nobody finds any more, whose files are there yet
	bytes  int64

	erasing sync.WaitGroup // of doomed
}

// New returns a spool, with what an earlier process of the worker has left in its folder. A folder that does not exist is
// made when a task prints for the first time.
func New(cfg Config) (*Spool, error) {
	s := &Spool{cfg: cfg, mostKept: maxEnded, newest: map[string]*attempt{}}
	if cfg.Folder == "" {
		s.private = true
		s.cfg.Folder = filepath.Join(os.TempDir(), "dodoor-spool-"+encode(cfg.Worker))
	}
	if _, err := os.Lstat(s.cfg.Folder); os.IsNotExist(err) {
		return s, nil
	}
	err := s.open()
	if err == nil {
		err = s.rebuild()
	}
	if err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("worker %s: worker.spool: %w", cfg.Worker, err)
	}
	return s, nil
}

// Close lets the folder go, once what was forgotten is removed. No attempt may run any more.
func (s *Spool) Close() error {
	if s == nil {
		return nil
	}
	s.erasing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	err := s.lock.Close()
	s.lock = nil
	return err
}

// Begin notes that an attempt of a user's task begins.
func (s *Spool) Begin(user, job, task string, number int) *Recording {
	a := &attempt{user: user, job: job, task: task, number: max(number, 1)}
	if s == nil {
		return &Recording{attempt: a}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.insert(a)
	if s.begun != nil {
		close(s.begun)
		s.begun = nil
	}
	return &Recording{spool: s, attempt: a}
}

// insert puts an attempt where it belongs among those of its task, the newest first. One of the same number gives way, unless it is
// of another user's task, which had the same name.
func (s *Spool) insert(a *attempt) {
	for at := s.newest[a.task]; at != nil && at.number >= a.number; at = at.older {
		if at.number == a.number && at.user == a.user {
			s.remove(at)
			break
		}
	}
	at := s.newest[a.task]
	if at == nil || at.number <= a.number {
		a.older, s.newest[a.task] = at, a
		return
	}
	for at.older != nil && at.older.number > a.number {
		at = at.older
	}
	a.older, at.older = at.older, a
}

// remove forgets an attempt, and what it printed.
func (s *Spool) remove(a *attempt) {
	s.detach(a)
	s.erase(a)
}

// detach makes that nobody finds an attempt any more. It costs the spool what it did until its files are erased.
func (s *Spool) detach(a *attempt) {
	if s.newest[a.task] == a {
		if s.newest[a.task] = a.older; a.older == nil {
			delete(s.newest, a.task)
		}
	} else {
		for at := s.newest[a.task]; at != nil; at = at.older {
			if at.older == a {
				at.older = a.older
			}
		}
	}
	if a.place != nil {
		a.list.Remove(a.place)
		a.place = nil
	}
	a.gone = true
	a.wake()
}

// makeRoom removes what is doomed, and then the oldest attempts that have ended, until so many more bytes fit.
func (s *Spool) makeRoom(more int64) bool {
	for s.bytes+more > s.cfg.Bytes {
		if s.eraseDoomed() {
			continue
		}
		oldest := s.ended.Front()
		if oldest == nil {
			return false
		}
		s.remove(oldest.Value.(*attempt))
	}
	return true
}

// finish notes that an attempt has ended.
func (s *Spool) finish(a *attempt) {
	a.ended = true
	a.wake()
	if a.gone {
		return
	}
	a.list = &s.ended
	if a.streams[0].file+a.streams[1].file == "" {
		a.list = &s.silent
	}
	a.place = a.list.PushBack(a)
	if s.silent.Len() > maxSilent {
		s.remove(s.silent.Front().Value.(*attempt))
	}
	if s.ended.Len() > s.mostKept {
		s.remove(s.ended.Front().Value.(*attempt))
	}
}

func (s *Spool) unknown(task string) error {
	return cluster.Errorf(cluster.UnknownTask, "worker %s has no output of task %q: it did not run there, or what it printed was removed",
		s.cfg.Worker, task)
}
