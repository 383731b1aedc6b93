package keeper

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// How long to wait for what was killed, and how long it gets to die before it is looked for again. One that waits for a disk
// that is gone takes for ever.
const (
	killLimit = 30 * time.Second
	killPause = time.Millisecond
)

// mostPasses bounds how often what has come since is stopped before all are killed: to be stopped takes a place from others.
const mostPasses = 1000

// killer ends the descendants of this process.
type killer struct {
	self    int
	alone   bool         // nobody else in this process waits for children
	stopped map[int]bool // since they were last killed
	found   int          // in the last pass, that had not ended
	fresh   bool         // some of them were not among stopped
	denied  int          // of the found, those that this process may not kill
}

// killAll kills every descendant of this process but the earlier ones, and waits for all, until none is left. It returns how
// many do not die, and how many of those this process may not kill. Whoever else waits for one of them is told that there is no
// such child.
//
// What multiplies faster than it is killed is stopped before: a process that does not run has no more children, and keeps its
// place from others. One that ends as soon as it has a child may get away many times, but is found in the end: between
// being looked up and being stopped it has less time than a child takes.
func killAll(alone bool) (left, denied int) {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // a child's orphans come here, not to somebody above
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20) // of this thread, where it may: before those that it is to end
	k := &killer{self: os.Getpid(), alone: alone, stopped: map[int]bool{}}
	deadline := time.Now().Add(killLimit)
	for passes := 0; !reap(mostReaped); passes++ {
		k.chase(syscall.SIGSTOP)
		k.pass(syscall.SIGSTOP)
		if k.found == 0 {
			return 0, 0
		}
		if k.fresh && passes < mostPasses && time.Now().Before(deadline) {
			continue
		}
		k.pass(syscall.SIGKILL)
		if time.Now().After(deadline) {
			return k.found, k.denied
		}
		clear(k.stopped)
		passes = 0
		time.Sleep(killPause)
	}
	return 0, 0
}

// mostReaped bounds how many children are waited for at a time: among some that end faster than that there would be no end.
const mostReaped = 1000

// reap waits for children that have ended, and reports whether there is no other: then there are no descendants either.
func reap(most int) bool {
	for range most {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != unix.EINTR && pid <= 0 {
			return err == unix.ECHILD
		}
	}
	return false
}

// mostChases bounds how often the same children are listed in a row.
const mostChases = 100

// chase sends a signal to the children that this process has been given, as fast as it can, until there are no new ones. A
// process that ends as soon as it has a child is gone when the tree below it has been walked.
func (k *killer) chase(s syscall.Signal) {
	for range mostChases {
		children, _ := procfs.ChildrenOfThread(k.self, k.self) // the first thread gets the orphans
		children = slices.DeleteFunc(children, spared)
		k.fresh = false
		for _, child := range slices.Backward(children) { // the newest, which live, before those that have ended
			k.signal(child, k.self, s)
		}
		if reap(len(children)); !k.fresh {
			return
		}
	}
}

// pass sends a signal to every descendant that there is, to a parent before its children.
func (k *killer) pass(s syscall.Signal) {
	k.found, k.fresh, k.denied = 0, false, 0
	k.below(k.self, s)
}

func (k *killer) below(parent int, s syscall.Signal) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", parent)) // none, if it has just ended
	for _, thread := range threads {
		children, _ := procfs.ChildrenOfThread(parent, int(procfs.Number([]byte(thread.Name()))))
		if parent == k.self {
			children = slices.DeleteFunc(children, spared)
		}
		for _, child := range children { // at once, before they have others
			k.signal(child, parent, s)
		}
		for _, child := range children {
			k.below(child, s)
		}
	}
}

// signal sends a signal to a process that was a child of another a moment ago.
func (k *killer) signal(pid, parent int, s syscall.Signal) {
	var err error
	if parent == k.self && k.alone {
		err = syscall.Kill(pid, s) // until it is waited for, and that is for us to do, its number is its own
	} else {
		err = k.signalVerified(pid, parent, s)
	}
	if err == unix.ESRCH {
		return
	}
	k.found++
	if err != nil {
		k.denied++
	}
	if !k.stopped[pid] {
		k.stopped[pid], k.fresh = true, true
	}
}

// signalVerified makes sure that a number has not become another process's meanwhile. One that has ended gets no signal.
func (k *killer) signalVerified(pid, parent int, s syscall.Signal) error {
	fd, opened := unix.PidfdOpen(pid, 0) // since Linux 5.3, and not in every container
	if opened == nil {
		defer unix.Close(fd)
	}
	now, err := procfs.MembershipOf(pid)
	if err != nil || now.Ended || now.Parent != parent && now.Parent != k.self { // whose parent ends becomes ours
		return unix.ESRCH
	}
	if opened != nil {
		return syscall.Kill(pid, s)
	}
	return unix.PidfdSendSignal(fd, s, nil, 0)
}
