// Command process is what the tests of executor process run. Its arguments are steps, which it takes one
// after the other: print=TEXT, error=TEXT, lines=N, where, stdin, files=PATH (a folder that resists its
// removal), pid=FILE, sleep=DURATION, burn=CPU-TIME, grow=MIB, child=STEP, spawn=HOW:FILE, die=SIGNAL,
// exit=N.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

var held [][]byte

func main() {
	for _, step := range os.Args[1:] {
		name, value, _ := strings.Cut(step, "=")
		if err := take(name, value); err != nil {
			fmt.Fprintln(os.Stderr, step+":", err)
			os.Exit(1)
		}
	}
}

func take(name, value string) error {
	switch name {
	case "print":
		fmt.Println(value)
	case "error":
		fmt.Fprintln(os.Stderr, value)
	case "lines":
		for i := range number(value) {
			fmt.Println("line", i)
		}
	case "where":
		return where()
	case "stdin":
		text, err := io.ReadAll(os.Stdin)
		fmt.Printf("read %d bytes\n", len(text))
		return err
	case "files":
		if err := os.MkdirAll(filepath.Join(value, "below"), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(value, "below", "file"), []byte("x"), 0o400); err != nil {
			return err
		}
		return os.Chmod(filepath.Join(value, "below"), 0)
	case "pid":
		return note(value)
	case "sleep":
		time.Sleep(duration(value))
	case "burn":
		begin := time.Now()
		for target := duration(value); used() < target; {
		}
		fmt.Println(time.Since(begin))
	case "grow":
		for range number(value) {
			chunk := make([]byte, 1<<20)
			for i := range chunk {
				chunk[i] = 1
			}
			held = append(held, chunk)
		}
	case "child":
		return again(value).Run()
	case "spawn":
		how, file, _ := strings.Cut(value, ":")
		return spawn(how, file)
	case "die":
		return syscall.Kill(os.Getpid(), syscall.Signal(number(value)))
	case "exit":
		os.Exit(number(value))
	default:
		return fmt.Errorf("unknown step")
	}
	return nil
}

// where prints the surroundings.
func where() error {
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

// spawn starts a process that outlives this one, and waits until it has noted its number in a file.
func spawn(how, file string) error {
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

// used is the CPU time of this process.
func used() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}
