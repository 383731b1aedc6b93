package keeper

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// Who tells this process of a signal: the kernel, or the keeper, which got one itself. A terminal's interrupt reaches both,
// and so do those that are for the whole process group.
const (
	byKernel = iota
	byKeeper
)

// arrivals counts signals by who tells of them. What only one of the two had is news, what both had is one signal: so none
// counts twice, however late the other tells of it.
type arrivals struct {
	mu        sync.Mutex
	counts    [2][65]int
	listeners map[chan<- os.Signal][]os.Signal
	kernel    chan os.Signal // nil: nobody listens
	byDefault func(syscall.Signal)
}

var got = &arrivals{listeners: map[chan<- os.Signal][]os.Signal{}, byDefault: byDefault}

// Notify is signal.Notify, for signals that come to the keeper as well. A channel that has no room misses some.
func Notify(c chan<- os.Signal, signals ...os.Signal) { got.notify(c, signals) }

// Stop is signal.Stop, for Notify.
func Stop(c chan<- os.Signal) { got.stop(c) }

func (a *arrivals) notify(c chan<- os.Signal, signals []os.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kernel == nil {
		kernel := make(chan os.Signal, 64)
		a.kernel = kernel
		go func() {
			for s := range kernel {
				if number, ok := s.(syscall.Signal); ok {
					a.arrive(byKernel, number)
				}
			}
		}()
	}
	a.listeners[c] = append(a.listeners[c], signals...)
	signal.Notify(a.kernel, signals...)
}

func (a *arrivals) stop(c chan<- os.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.listeners, c)
	if len(a.listeners) == 0 && a.kernel != nil {
		signal.Stop(a.kernel)
		close(a.kernel)
		a.kernel = nil
	}
}

// arrive counts one, and passes it on if it is news. Where nobody listens, it does what it does to a process.
func (a *arrivals) arrive(by int, s syscall.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if int(s) >= len(a.counts[by]) {
		return
	}
	a.counts[by][s]++
	if a.counts[by][s] <= a.counts[1-by][s] {
		return
	}
	heard := false
	for c, signals := range a.listeners {
		if !slices.Contains(signals, os.Signal(s)) {
			continue
		}
		heard = true
		select {
		case c <- s:
		default:
		}
	}
	if !heard {
		a.byDefault(s)
	}
}

// byDefault ends this process by a signal, as the kernel would have.
func byDefault(s syscall.Signal) {
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
}
