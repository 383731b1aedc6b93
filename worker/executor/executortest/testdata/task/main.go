// Command task is the only program that the tests of executors run, in containers and outside. Its
// arguments are steps, which it takes one after the other.
package main

import (
	"fmt"
	"io"
	"os"
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

// take takes one step: print=TEXT, error=TEXT, lines=N, stdin, sleep=DURATION, burn=CPU-TIME, grow=MIB,
// child=STEP, exit=N, or one of those that other files add.
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
	case "stdin":
		text, err := io.ReadAll(os.Stdin)
		fmt.Printf("read %d bytes\n", len(text))
		return err
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
	case "exit":
		os.Exit(number(value))
	default:
		if do := more[name]; do != nil {
			return do(value)
		}
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
