package procgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"dodoor/worker/executor/executortest"
)

// What programs leave behind goes with them, however many of them end at one time, and nothing else does.
func TestManyGroupsAtOnce(t *testing.T) {
	program, folder := executortest.Install(t), t.TempDir()
	var work sync.WaitGroup
	groups := 16
	if testing.Short() {
		groups = 4
	}
	for i := range groups {
		work.Go(func() {
			for _, how := range []string{"plain", "group", "session", "daemon"} {
				file := filepath.Join(folder, fmt.Sprint(how, i))
				mark := "MARK=" + file
				g, err := (&Program{Path: program, Args: []string{"spawn=" + how + ":" + file}, Dir: "/", Env: []string{mark}, Mark: mark}).Start()
				if err != nil {
					t.Error(err)
					return
				}
				<-g.Done()
				if code, err := g.Exit(); code != 0 {
					t.Error(err)
				}
				if text, err := os.ReadFile(file); err != nil || len(text) == 0 {
					t.Errorf("%q, %v", text, err)
				}
				for _, pid := range executortest.Noted(t, file, 1) {
					if unix.Kill(pid, 0) != unix.ESRCH {
						t.Errorf("%s: process %d is still there", how, pid)
					}
				}
			}
		})
	}
	work.Wait()
	if len(running.groups)+len(running.taken) > 0 || starters[false].current != nil {
		t.Errorf("groups %v, strays %v, thread %v are left", running.groups, running.taken, starters[false].current)
	}
}

// A program begins with the figure of this process, which is not its own.
func TestPeakOfOneProcess(t *testing.T) {
	var own unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	grow := 2*own.Maxrss>>10 + 64
	for _, c := range []struct {
		step string
		want int64 // MiB
	}{{"exit=0", 0}, {fmt.Sprintf("grow=%d", grow), grow}, {fmt.Sprintf("child=grow=%d", grow), grow}} {
		g, err := (&Program{Path: executortest.Install(t), Args: []string{c.step}, Dir: "/"}).Start()
		if err != nil {
			t.Fatal(err)
		}
		<-g.Done()
		if got := g.Peak() >> 20; c.want == 0 && got != 0 || got < c.want || got > 2*c.want {
			t.Errorf("%s: %d MiB, want %d", c.step, got, c.want)
		}
	}
}

type refusing struct{}

func (refusing) Write([]byte) (int, error) { return 0, errors.New("enough") }

// A file is the program's output itself, or its input. A writer that takes no more ends the program that goes on writing.
func TestOutputs(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	input, err := os.Open(filepath.Join(executortest.Tree(t, map[string]string{"in": "x\nin\n"}), "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	text, apart, both, long := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}, strings.Repeat("0123456789abcdef", 8192)
	for _, p := range []*Program{
		{Path: "/bin/sh", Args: []string{"-c", "echo a; echo b >&2"}, Output: file},
		{Path: "/bin/sh", Args: []string{"-c", "while true; do echo y; done"}, Output: refusing{}},
		{Path: "/bin/sh", Args: []string{"-c", "for i in 1 2 3 4; do echo $TEXT; done"}, Env: []string{"TEXT=" + long[:100_000]}, Output: text},
		{Path: "/bin/sh", Args: []string{"-c", "read x; cat; echo e >&2"}, Input: input, Errors: apart, Output: both},
		{Path: "/bin/sh", Args: []string{"-c", "echo o; echo f >&2"}, Errors: apart},
	} {
		p.Dir = "/"
		g, err := p.Start()
		if err != nil {
			t.Fatal(err)
		}
		<-g.Done()
		if code, err := g.Exit(); (code != 0) != (p.Output == refusing{}) {
			t.Error(code, err)
		}
	}
	if got, err := os.ReadFile(file.Name()); err != nil || string(got) != "a\nb\n" {
		t.Errorf("%q, %v", got, err)
	}
	if both.String() != "in\n" || apart.String() != "e\nf\n" {
		t.Errorf("%q, %q", both, apart)
	}
	if text.String() != strings.Repeat(long[:100_000]+"\n", 4) {
		t.Errorf("%d bytes arrived", text.Len())
	}
}

// Without a descriptor, or one that cannot be polled, the end is awaited all the same, and left to be waited for.
func TestAwaitEnd(t *testing.T) {
	for _, other := range []bool{false, true} {
		fd := -1
		cmd := exec.Command("/bin/sh", "-c", "read x; exit 5")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil && other {
			fd, err = unix.Open("/proc/self/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		if ended(cmd.Process.Pid, unix.WNOHANG) {
			t.Error("ended before it did")
		}
		over := make(chan struct{})
		go func() { awaitEnd(cmd.Process.Pid, fd); close(over) }()
		in.Close()
		<-over
		if err := cmd.Wait(); err == nil || err.Error() != "exit status 5" {
			t.Error(err)
		}
	}
}

// Of several settings of one variable the last counts, as in starting a program with Go's own.
func TestLastOfEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := rapid.SliceOf(rapid.StringMatching(`[AB]{1,2}=[a=]{0,2}`)).Draw(t, "env")
		if got, want := lastOfEach(env), (&exec.Cmd{Env: env}).Environ(); len(env) > 0 && !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// A program that cannot start leaves nothing.
func TestNoProgram(t *testing.T) {
	<-startShell(t, "exit 0").Done() // what is opened once is open
	before, _ := os.ReadDir("/proc/self/fd")
	for _, p := range []*Program{{Path: "/missing", Dir: "/"}, {Path: "/bin/true", Dir: "/missing"},
		{Path: "/bin/true", Dir: "/", Args: []string{"\x00"}}} {
		p.Output = &strings.Builder{}
		g, err := p.Start()
		if fork := new(os.PathError); g != nil || !errors.As(err, &fork) || fork.Op != "fork/exec" || fork.Path != p.Path {
			t.Errorf("%v, %v", g, err)
		}
		if p.Args != nil && !errors.Is(err, syscall.EINVAL) {
			t.Error(err)
		}
	}
	if after, _ := os.ReadDir("/proc/self/fd"); len(after) > len(before) || starters[false].current != nil {
		t.Errorf("%d descriptors, and there were %d; thread %v", len(after), len(before), starters[false].current)
	}
}
