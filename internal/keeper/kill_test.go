package keeper

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// What a child may leave that is killed as soon as it is told so (descriptor 3). Each ends by itself, some time, and says so.
var left = map[string]string{
	"comets": "comets",
	// Each of them has two, and so have those.
	"bomb":  `leave=f() { if [ $1 = 0 ]; then echo >&3; sleep 60; echo survived; else f $(($1-1)) & f $(($1-1)) & wait; fi; }; f 6`,
	"chain": `leave=f() { if [ $1 = 0 ]; then echo >&3; sleep 60; echo survived; else (f $(($1-1))); fi; }; f 60`,
	"guard": `leave=while :; do sh -c "echo >&3; sleep 60; echo survived"; done`,
	"deaf":  `leave=trap '' TERM INT HUP; echo >&3; kill -STOP $$; sleep 60; echo survived`,
}

// Nothing is left, however fast it multiplies, and however little room for threads it leaves to the keeper.
func TestNothingIsLeft(t *testing.T) {
	for name, what := range left {
		t.Run(name, func(t *testing.T) {
			cmd, out := began(t, what, func(cmd *exec.Cmd) {
				if os.Geteuid() == 0 { // of a user that nobody else is, so that only the keeper has part in its room
					cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 471_113, Gid: 471_113}
					cmd.Env = append(cmd.Env, room+"=1500")
				}
			})
			text, err := io.ReadAll(out)     // which all of them may write
			if err != nil || len(text) > 0 { // nor does a keeper give up in silence
				t.Errorf("%q, %v", text, err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 137 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// A shell that becomes the command leaves it children, which are none of its business.
func TestEarlierChildrenLiveOn(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for what, code := range map[string]int{"exit=0": 0, "leave=echo >&3; sleep 60; echo survived": 137} {
		cmd, out := began(t, what, func(cmd *exec.Cmd) {
			cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `sleep 1000 >/dev/null 2>&1 & echo $!; exec "$0"`, program}
		})
		earlier, err := strconv.Atoi(line(t, out))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(out); err != nil || len(text) > 0 {
			t.Errorf("%s: %q, %v", what, text, err)
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("%s: exit code %d", what, got)
		}
		if p, err := procfs.MembershipOf(earlier); err != nil || p.Ended {
			t.Errorf("%s: an earlier child is gone: %+v, %v", what, p, err)
		}
		_ = syscall.Kill(earlier, syscall.SIGKILL)
	}
}

// A process gets a signal as a child of its parent alone.
func TestSignalsAreForDescendants(t *testing.T) {
	sleeper := exec.Command("sleep", "1000")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	pid := sleeper.Process.Pid
	k := &killer{self: 1} // it is none of that
	if err := k.signalVerified(pid, pid, syscall.SIGKILL); err != unix.ESRCH {
		t.Error(err)
	}
	if err := k.signalVerified(pid, os.Getpid(), syscall.Signal(0)); err != nil {
		t.Error(err)
	}
}

// A child whose keeper was killed before the child began ends: it is nobody's keeper.
func TestAnOrphanEnds(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		closed bool // the keeper's end
		path   string
		args   []string
	}{
		"another parent": {false, "/bin/sh", []string{"sh", "-c", `"$0"; exit $?`, program}},
		"nobody there":   {true, program, []string{program}},
	} {
		ours, theirs, err := connection()
		if err != nil {
			t.Fatal(err)
		}
		end := os.NewFile(uintptr(theirs), "child")
		if c.closed {
			ours.Close()
		}
		cmd, out := began(t, "exit=0", func(cmd *exec.Cmd) {
			cmd.Path, cmd.Args, cmd.ExtraFiles, cmd.Env = c.path, c.args, []*os.File{end}, append(cmd.Env, variable+"=3")
		})
		if text, err := io.ReadAll(out); err != nil || len(text) > 0 {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("%s: exit code %d", name, code)
		}
		ours.Close()
		end.Close()
	}
}
