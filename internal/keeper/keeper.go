// Package keeper sees to it that nothing a worker runs outlives the worker, whichever way that ends. A command that
// runs tasks starts itself again as a child, and stays behind as its keeper: orphans of a dead child become the keeper's
// children, which it kills until none is left. A child whose keeper has been killed hears of it at once. It runs on Linux.
package keeper

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// variable is where a child finds its end of the connection to its keeper: a descriptor. Nobody below sees it.
const variable = "DODOOR_KEEPER"

// Title is what the system calls a keeper's first thread, so that lists of processes tell it from the child.
const Title = "dodoor-keeper"

// End is how a child of this process has ended, and what it said that it might leave.
type End struct {
	Code   int // its own, or 128 plus the number of the signal that killed it, as a shell has it
	Notes  []string
	Left   int // processes that have not died, however often they were killed
	Denied int // those of them that this process may not kill
}

// Kill kills whatever the child has left running. Begin has done so where there are no notes.
func (e *End) Kill() { e.Left, e.Denied = killAll(true) }

var over *End

// Over returns the end of this keeper's child; it is nil in every other process.
func Over() *End { return over }

// Begin makes this process the keeper of another like it, with the same arguments, and returns when that has ended out of
// order: the rest is to kill and to remove what it left. In the child it returns at once. Where no child can be started, this
// process goes on without a keeper, and says so.
func Begin() {
	if adopt() {
		return
	}
	k, err := start()
	if err != nil {
		fmt.Fprintf(os.Stderr, "dodoor: without a keeper, what tasks start can outlive this process if that is killed: %v\n", err)
		return
	}
	if over = k.stay(); len(over.Notes) > 0 {
		return
	}
	if over.Kill(); over.Left == 0 {
		os.Exit(over.Code)
	}
}

// keeper is this process, once it has a child.
type keeper struct {
	child   int
	conn    *os.File // signals go there; notes come back
	signals chan os.Signal
	notes   chan []string
}

// relayed are the signals that are meant for the child when they come here. All of them end it.
var relayed = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}

func start() (*keeper, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, os.NewSyscallError("prctl", err)
	}
	noteEarlier()
	reserve()
	ours, theirs, err := connection()
	if err != nil {
		return nil, err
	}
	defer unix.Close(theirs)
	k := &keeper{conn: ours, signals: make(chan os.Signal, 64), notes: make(chan []string, 1)}
	for _, s := range relayed {
		if s != syscall.SIGHUP || !signal.Ignored(s) { // nohup
			signal.Notify(k.signals, s)
		}
	}
	k.child, err = syscall.ForkExec("/proc/self/exe", os.Args, &syscall.ProcAttr{Env: append(os.Environ(), variable+"="+strconv.Itoa(theirs)),
		Files: []uintptr{0, 1, 2}})
	if err != nil {
		signal.Reset(relayed...)
		return nil, err
	}
	_ = os.WriteFile("/proc/self/comm", []byte(Title), 0) // a matter of looks
	return k, nil
}

// connection returns both ends of one. The child gets the other by its number, whatever else it inherits.
func connection() (ours *os.File, theirs int, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, os.NewSyscallError("socketpair", err)
	}
	_ = unix.SetNonblock(ends[0], true) // otherwise reading takes a thread
	if _, err := unix.FcntlInt(uintptr(ends[1]), unix.F_SETFD, 0); err != nil {
		return nil, 0, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(ends[0]), "child"), ends[1], nil
}

// lastNotes is how long to wait for what the child has noted last, once it is gone.
const lastNotes = time.Second

// stay stays until the child is gone.
func (k *keeper) stay() *End {
	go k.read()
	go func() {
		for s := range k.signals {
			if number, ok := s.(syscall.Signal); ok {
				_, _ = k.conn.Write([]byte{byte(number)}) // or it has ended
			}
		}
	}()
	end := &End{Code: k.wait()}
	_ = k.conn.SetReadDeadline(time.Now().Add(lastNotes)) // a process that it was about to start may have the other end, too
	end.Notes = <-k.notes
	return end
}

// wait waits for the child, and for orphans of others on the way: the first process of a container gets those.
func (k *keeper) wait() (code int) {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return 1 // somebody else has waited for it
		case pid != k.child:
		case status.Signaled() && slices.Contains(relayed, os.Signal(status.Signal())):
			return 128 + int(status.Signal())
		case status.Signaled():
			fmt.Fprintf(os.Stderr, "dodoor: process %d was ended by signal %d (%v), and what it ran is ended, too\n", pid,
				int(status.Signal()), status.Signal())
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// mostNotes bounds what a keeper remembers.
const mostNotes = 10_000

// read collects the child's notes, each once, until there is nobody who writes any.
func (k *keeper) read() {
	var notes []string
	for lines := bufio.NewScanner(k.conn); lines.Scan(); {
		switch note := lines.Text(); {
		case note == tidy:
			notes = nil
		case len(notes) < mostNotes && !slices.Contains(notes, note):
			notes = append(notes, note)
		}
	}
	k.notes <- notes
}
