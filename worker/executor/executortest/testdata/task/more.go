package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// more are the steps that try what a task may not, or tell what it may: fork=N, ignore (signals), fill=PATH, write=PATH,
// dial=ADDRESS, whoami, where, throttled, crowd=DURATION (of CPU time, by many threads), files=PATH (a folder that resists its
// removal), die=SIGNAL; and those of processes that stay: pid=FILE, spawn=HOW:FILE.
var more map[string]func(value string) error

func init() {
	more = map[string]func(string) error{
		"fork": fork, "ignore": ignore, "fill": fill, "write": write, "dial": dial, "whoami": whoami,
		"where": where, "files": files, "die": die, "pid": note, "spawn": spawn,
		"throttled": throttled, "crowd": crowd,
	}
}

func fork(count string) error {
	for range number(count) {
		if err := again("sleep=1h").Start(); err != nil {
			return err
		}
	}
	return nil
}

// crowd gets half a core even on a machine that is busy.
func crowd(value string) error {
	for range 8 {
		go func() {
			for {
			}
		}()
	}
	for target := duration(value); used() < target; {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func ignore(string) error {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	return nil
}

func fill(path string) error { return os.WriteFile(path, make([]byte, 32<<20), 0o600) }

func write(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }

func dial(address string) error {
	_, err := net.DialTimeout("tcp", address, time.Second)
	return err
}

func whoami(string) error {
	status, err := os.ReadFile("/proc/self/status")
	fmt.Printf("uid=%d gid=%d\n%s", os.Getuid(), os.Getgid(), status)
	return err
}

func files(path string) error {
	below := filepath.Join(path, "below")
	if err := os.MkdirAll(below, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(below, "file"), []byte("x"), 0o400); err != nil {
		return err
	}
	return os.Chmod(below, 0)
}

func die(sig string) error { return syscall.Kill(os.Getpid(), syscall.Signal(number(sig))) }

// where prints the surroundings.
func where(string) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	null, err := os.Readlink("/proc/self/fd/0")
	if err != nil {
		return err
	}
	fmt.Println(folder, info.Mode(), null)
	fmt.Println(strings.Join(os.Environ(), "\n"))
	return nil
}
