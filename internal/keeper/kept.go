package keeper

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kept is this process's end of the connection to its keeper; conn is nil where there is none.
var kept = struct {
	mu   sync.Mutex // of writing
	conn *os.File
	lost chan struct{} // closed when the keeper is gone
}{lost: make(chan struct{})}

// adopt makes this process a child of a keeper, if it was started by one.
func adopt() bool {
	number, given := os.LookupEnv(variable)
	_ = os.Unsetenv(variable)
	fd, err := strconv.Atoi(number)
	if !given || err != nil || fd < 3 {
		return false
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || peer.Pid == 0 {
		return false // a variable may come from anywhere
	}
	// The one who made the connection has to be the parent, and to be there. Otherwise it was killed before this process began,
	// which nobody is to keep in its place.
	n, _, err := unix.Recvfrom(fd, make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if int(peer.Pid) != os.Getppid() || n == 0 && err == nil {
		fmt.Fprintln(os.Stderr, "dodoor: the keeper of this process is gone before it began, so it ends")
		os.Exit(1)
	}
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0) // a matter of looks: it was started as /proc/self/exe
	unix.CloseOnExec(fd)
	_ = unix.SetNonblock(fd, true) // otherwise reading takes a thread
	kept.conn = os.NewFile(uintptr(fd), "keeper")
	go listen(kept.conn)
	return true
}

// listen hears of signals that the keeper got, and of the keeper's end.
func listen(conn *os.File) {
	buffer := make([]byte, 16)
	for {
		n, err := conn.Read(buffer)
		for _, number := range buffer[:n] {
			got.arrive(byKeeper, syscall.Signal(number))
		}
		if err != nil {
			break
		}
	}
	fmt.Fprintln(os.Stderr, "dodoor: the keeper of this process is gone, so it ends, and ends what it runs")
	close(kept.lost)
	time.Sleep(patience)
	killAll(false)
	os.Exit(1)
}

// patience is how long a process whose keeper is gone may take to end its tasks in order. Then they end without.
const patience = 10 * time.Second

// Lost is closed when this process had a keeper which is gone: whoever runs tasks has to end them at once. It is nil where
// there is none to lose.
func Lost() <-chan struct{} {
	if kept.conn == nil {
		return nil
	}
	return kept.lost
}

// Kept returns a context that ends with another one, or when the keeper is lost.
func Kept(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-kept.lost:
		case <-ctx.Done():
		}
	}()
	return ctx
}

// Note tells the keeper, if there is one, what it has to remove should this process not do so: a line.
func Note(line string) {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.conn != nil {
		_, _ = kept.conn.WriteString(strings.ReplaceAll(line, "\n", " ") + "\n") // a keeper that is gone removes nothing
	}
}

// tidy is the note of a process that has removed everything itself.
const tidy = "."

// Exit ends this process in order: it has removed what it was to. What its tasks have left running ends before that, or after
// by the keeper.
func Exit(code int) {
	select {
	case <-kept.lost:
		killAll(false)
	default:
		Note(tidy)
	}
	os.Exit(code)
}
