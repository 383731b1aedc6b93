package procgroup

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// awaitEnd stays until a child of this process has ended, and leaves it to be waited for. The child's
// descriptor (Linux 5.4 or later; otherwise it is negative) keeps that from taking a thread.
func awaitEnd(pid, pidfd int) {
	if pidfd >= 0 && unix.SetNonblock(pidfd, true) == nil {
		child := os.NewFile(uintptr(pidfd), "pidfd")
		defer child.Close()
		conn, err := child.SyscallConn()
		if err == nil && conn.Read(func(uintptr) bool { return ended(pid, unix.WNOHANG) }) == nil {
			return
		}
	}
	ended(pid, 0)
}

// ended reports whether a child of this process has ended. Without unix.WNOHANG it stays until then.
func ended(pid, options int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|options, nil)
		if err != unix.EINTR {
			return err != nil || info.Signo != 0
		}
	}
}

// reap waits for a child that has ended, or is about to.
func reap(pid int) (status unix.WaitStatus, usage unix.Rusage) {
	for {
		_, err := unix.Wait4(pid, &status, 0, &usage)
		if err != unix.EINTR {
			return status, usage
		}
	}
}

func timeOf(usage *unix.Rusage) time.Duration {
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// ownPeak returns how much memory a child that was waited for held, in bytes, given the kernel's figure in KiB. A child
// begins with its parent's, so only what is more counts; by a quarter, since the kernel counts roughly.
func ownPeak(child int64) int64 {
	var parent unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &parent) != nil || child <= parent.Maxrss+parent.Maxrss/4 {
		return 0
	}
	return child << 10
}
