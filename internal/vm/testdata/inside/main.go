// Command inside runs a program as user 1000, or as a container does: inside user PROGRAM..., inside container PROGRAM...
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

func main() {
	runtime.LockOSThread()
	err := fmt.Errorf("nothing is called %q", os.Args[1])
	switch os.Args[1] {
	case "user":
		err = user()
	case "container":
		err = container()
	}
	if err == nil {
		err = syscall.Exec(os.Args[2], os.Args[2:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "inside:", err)
	os.Exit(1)
}

func user() error {
	const number = 1000
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(number); err != nil {
		return err
	}
	return syscall.Setuid(number)
}

// container makes the control group that this process is in the top of those that the program sees.
func container() error {
	if err := syscall.Unshare(syscall.CLONE_NEWNS | syscall.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	const groups = "/sys/fs/cgroup"
	if err := syscall.Unmount(groups, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", groups, err)
	}
	return syscall.Mount("cgroup2", groups, "cgroup2", 0, "")
}
