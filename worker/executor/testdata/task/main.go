// Command task is the only program of the container image that the tests run. Its arguments are steps,
// which it takes one after the other: print=TEXT, lines=N, sleep=DURATION, burn=CPU-TIME, grow=MIB,
// fork=N, child=STEP, write=PATH, fill=PATH, dial=ADDRESS, ignore (signals), whoami, exit=N.
package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
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
	case "lines":
		for i := range number(value) {
			fmt.Println("line", i)
		}
	case "sleep":
		time.Sleep(duration(value))
	case "burn":
		begin := time.Now()
		for target := duration(value); used() < target; {
		}
		fmt.Println("burned", value, "in", time.Since(begin))
	case "grow":
		for range number(value) {
			chunk := make([]byte, 1<<20)
			for i := range chunk {
				chunk[i] = 1
			}
			held = append(held, chunk)
		}
	case "fork":
		for range number(value) {
			if err := exec.Command("/task", "sleep=1h").Start(); err != nil {
				return err
			}
		}
	case "child":
		return exec.Command("/task", value).Run()
	case "ignore":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case "fill":
		return os.WriteFile(value, make([]byte, 32<<20), 0o600)
	case "write":
		return os.WriteFile(value, []byte("x"), 0o600)
	case "dial":
		_, err := net.DialTimeout("tcp", value, time.Second)
		return err
	case "whoami":
		status, err := os.ReadFile("/proc/self/status")
		fmt.Printf("uid=%d gid=%d\n%s", os.Getuid(), os.Getgid(), status)
		return err
	case "exit":
		os.Exit(number(value))
	default:
		return fmt.Errorf("unknown step")
	}
	return nil
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
