package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// interruptions are the first signal, and the second; the third ends the process.
type interruptions struct{ cancel, hurry chan struct{} }

// interrupts watches for signals, the third of which does the last thing before the process ends. That nobody reads what is
// printed any more is an error where it is written, and no signal.
func (f *jobFlags) interrupts(job string, last func()) (by interruptions, stop func()) {
	by = interruptions{make(chan struct{}), make(chan struct{})}
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	unwatch := onSignals(
		func(s os.Signal) {
			fmt.Fprintf(f.stderr, "%s: %v: cancelling job %s; a second signal ends at once\n", f.Name(), s, job)
			close(by.cancel)
		},
		func(os.Signal) { close(by.hurry) },
		func(os.Signal) { last(); os.Exit(exitFailed) })
	return by, func() { unwatch(); signal.Stop(pipe) }
}

// unreadEvery is how often somebody looks, in milliseconds, whether the watch is over.
const unreadEvery = 200

// whenUnread calls do, once, when nobody reads a pipe any more: a task that prints without end would never be printed. It
// returns what ends the watch.
func whenUnread(w io.Writer, do func()) (stop func()) {
	file, ok := w.(*os.File)
	if !ok {
		return func() {}
	}
	if info, err := file.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return func() {}
	}
	over := make(chan struct{})
	fd := int32(file.Fd())
	go func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			fds := []unix.PollFd{{Fd: fd}}
			if n, err := unix.Poll(fds, unreadEvery); err == nil && n > 0 {
				if fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
					do()
				}
				return
			}
		}
	}()
	return func() { close(over) }
}
