package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// spawn starts a process that outlives this one, HOW:FILE, and waits until it has noted its number in the file.
func spawn(value string) error {
	how, file, _ := strings.Cut(value, ":")
	p := again("pid="+file, "sleep=1h")
	p.SysProcAttr = &syscall.SysProcAttr{}
	switch how {
	case "plain": // stays in the group
	case "busy": // so does this one, which ends soon
		p = again("burn=200ms", "pid="+file)
	case "group": // has one of its own
		p.SysProcAttr.Setpgid = true
	case "session":
		p.SysProcAttr.Setsid = true
	case "daemon": // and is nobody's child
		p = again("spawn=session:" + file)
		p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return p.Run()
	case "stranger": // and does not know its origin
		p = again("spawn=session:" + file)
		p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		p.Env = []string{"A=B"}
		return p.Run()
	case "brief": // a daemon that ends soon
		p = again("spawn=over:" + file)
		p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return p.Run()
	case "over":
		p = again("pid=" + file)
		p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	default:
		return fmt.Errorf("unknown way")
	}
	if err := p.Start(); err != nil {
		return err
	}
	for {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), fmt.Sprintln(p.Process.Pid)) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

// again is this program once more, with the output of this one.
func again(steps ...string) *exec.Cmd {
	p := exec.Command("/proc/self/exe", steps...)
	p.Stdout, p.Stderr = os.Stdout, os.Stderr
	return p
}

// note adds this process's number to a file.
func note(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(f, os.Getpid())
	return f.Close()
}
