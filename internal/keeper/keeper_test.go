package keeper

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// The keeper ends as its child does.
func TestExitCodes(t *testing.T) {
	for what, want := range map[string]int{"exit=0": 0, "exit=1": 1, "exit=77": 77, "die": 137} {
		cmd, out := began(t, what)
		text, err := io.ReadAll(out)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != want {
			t.Errorf("%s: exit code %d, want %d", what, code, want)
		}
		notes := "" // of a child that ends in order
		if what == "die" {
			notes = "left: [something more]\n"
		}
		if string(text) != notes {
			t.Errorf("%s: %q, want %q", what, text, notes)
		}
	}
}

// The child has what the command was given, and nothing more.
func TestTheChildInherits(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	fmt.Fprint(write, "three")
	write.Close()
	_, out := began(t, "inherit", func(cmd *exec.Cmd) {
		cmd.ExtraFiles, cmd.Stdin = []*os.File{read}, strings.NewReader("input")
	})
	if got, want := line(t, out), `marked false, three "three", input "input"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A variable that somebody has set makes nobody a child.
func TestAVariableMakesNoChild(t *testing.T) {
	for _, value := range []string{"", "0", "3", "x", "99"} {
		cmd, out := began(t, "inherit", func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, variable+"="+value) })
		if got := line(t, out); !strings.HasPrefix(got, "marked false") {
			t.Errorf("%q: %s", value, got)
		}
		_ = cmd.Wait()
	}
}

// A signal counts once, whether the keeper alone has got it, the child, or both, as from a terminal.
func TestSignalsReachTheChild(t *testing.T) {
	cmd, out := began(t, "signals")
	var child int
	if _, err := fmt.Sscanf(line(t, out), "listening %d", &child); err != nil {
		t.Fatal(err)
	}
	keeper := cmd.Process.Pid
	for _, c := range []struct {
		to int
		s  syscall.Signal
	}{{keeper, syscall.SIGINT}, {-keeper, syscall.SIGINT}, {keeper, syscall.SIGINT}, {-keeper, syscall.SIGTERM}} {
		if err := syscall.Kill(c.to, c.s); err != nil {
			t.Fatal(err)
		}
		if got := line(t, out); got != c.s.String() {
			t.Fatalf("%s, want %v", got, c.s)
		}
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("more than there were: %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// A child that listens to no signals ends by them, as it would without a keeper.
func TestADeafChildEnds(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		cmd, out := began(t, "deaf")
		line(t, out)
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 128+int(s) {
			t.Errorf("%v: exit code %d", s, code)
		}
	}
}
