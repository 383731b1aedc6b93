package keeper

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// comets starts some processes that each have a child and end at once, as fast as the kernel makes them, and so do their
// children, for some generations. The last one says that it survived.
func comets(n, generations int) {
	text := []byte("survived\n")
	for range n {
		if pid, _, _ := syscall.RawSyscall(unix.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0); pid == 0 {
			comet(generations, text)
		}
	}
}

// comet makes system calls alone: it is a copy of one thread of this process.
//
//go:norace
//go:nosplit
func comet(generations int, text []byte) {
	pause := unix.Timespec{Nsec: 1_000_000}
	for generations > 0 {
		pid, _, err := syscall.RawSyscall(unix.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		switch {
		case err != 0: // no room
			_, _, _ = syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&pause)), 0, 0)
		case pid != 0:
			_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
		generations--
	}
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, 1, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)))
	_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
}
