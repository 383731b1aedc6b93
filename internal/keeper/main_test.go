package keeper

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// part is the variable that makes this test program a command with a keeper, and says what that does.
const part = "KEEPER_TEST_PART"

// room is the variable that says how many processes and threads the user of a part may have.
const room = "KEEPER_TEST_ROOM"

func TestMain(m *testing.M) {
	if os.Getenv(part) != "" {
		if n, err := strconv.ParseUint(os.Getenv(room), 10, 64); err == nil {
			_ = unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: n, Max: n})
		}
		Begin()
		if end := Over(); end != nil {
			end.Kill()
			fmt.Println("left:", end.Notes)
			os.Exit(end.Code)
		}
		play(os.Getenv(part))
		Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// play is what the child does.
func play(what string) {
	name, value, _ := strings.Cut(what, "=")
	switch name {
	case "exit":
		code, _ := strconv.Atoi(value)
		Exit(code)
	case "die":
		Note("something")
		Note("something")
		Note("more")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "comets":
		comets(30, 20_000)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "leave":
		read, write, _ := os.Pipe()
		cmd := exec.Command("sh", "-c", value)
		cmd.Stdout, cmd.ExtraFiles = os.Stdout, []*os.File{write}
		if cmd.Start() == nil {
			_, _ = read.Read(make([]byte, 1)) // it says when
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	case "inherit":
		_, marked := os.LookupEnv(variable)
		text, _ := io.ReadAll(os.NewFile(3, "three"))
		rest, _ := io.ReadAll(os.Stdin)
		fmt.Printf("marked %t, three %q, input %q\n", marked, text, rest)
	case "signals":
		signals := make(chan os.Signal, 10)
		Notify(signals, os.Interrupt, syscall.SIGTERM)
		fmt.Println("listening", os.Getpid())
		for s := range signals {
			fmt.Println(s)
			if s == syscall.SIGTERM {
				return
			}
		}
	case "deaf":
		fmt.Println("deaf", os.Getpid())
		select {}
	}
}

// began starts a part, in a process group of its own, and returns the lines that it prints.
func began(t *testing.T, what string, change ...func(*exec.Cmd)) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env, cmd.Stderr = append(os.Environ(), part+"="+what, "GORACE=atexit_sleep_ms=0"), t.Output()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	for _, c := range change {
		c(cmd)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewReader(out)
}

func line(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	text, err := from.ReadString('\n')
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}
