package procgroup

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// starters is where programs start. To the kernel, the parent of Pdeathsig is a thread, so a thread that has started a
// program must not end before the program does. One serves all that start while any of them is there: Go forks one
// program at a time anyhow, and a thread for each costs more than many a program.
//
// Programs of other users have one for themselves: what starts there gets no more rights by any program that it runs
// (setuid). The kernel has that by thread, too.
var starters = map[bool]*nursery{false: {}, true: {confined: true}}

type nursery struct {
	confined bool
	mu       sync.Mutex
	current  *starter // nil: there is none that may start more
}

// starter is a thread that starts programs and serves nobody else.
type starter struct {
	nursery  *nursery
	work     chan func()
	programs int // that are to start there, or have and are not gone
}

// enter returns the thread for one more program. It stays until leave.
func (n *nursery) enter() *starter {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.current == nil {
		s := &starter{nursery: n, work: make(chan func())}
		onThread(func() {
			if n.confined {
				_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // every kernel since Linux 3.5 has it
			}
			for f := range s.work {
				f()
			}
		})
		n.current = s
	}
	n.current.programs++
	return n.current
}

// leave says that a program is gone, or has not started.
func (s *starter) leave() {
	n := s.nursery
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.programs--; s.programs > 0 {
		return
	}
	if n.current == s {
		n.current = nil
	}
	close(s.work)
}

// retire keeps a thread from starting more: it may be where it should not be, and ends after its programs.
func (s *starter) retire() {
	n := s.nursery
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.current == s {
		n.current = nil
	}
}

// do runs f on the thread.
func (s *starter) do(f func() error) error {
	done := make(chan error, 1)
	s.work <- func() { done <- f() }
	return <-done
}

// onThread runs f on a thread that serves nobody else and ends with f, and is not the process's first:
// to the kernel, the first one's control group is that of the process, and its children are orphans.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			f()
			return // Go ends a thread whose goroutine ends without letting go of it
		}
		settled := make(chan struct{})
		onThread(func() {
			close(settled)
			f()
		})
		<-settled
		runtime.UnlockOSThread()
	}()
}
