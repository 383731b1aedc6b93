package procgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/internal/needs"
)

// needRoot returns a user whom tasks run as where root's say nothing.
func needRoot(t *testing.T) *User {
	t.Helper()
	if os.Geteuid() != 0 {
		needs.Real(t, errors.New("only root runs programs as another user"))
	}
	u, err := FindUser("")
	if err != nil || u == nil {
		t.Fatalf("%+v, %v", u, err)
	}
	return u
}

// Root's tasks are nobody's unless root is named; everybody else's are their own, and nobody else's.
func TestWhomTasksRunAs(t *testing.T) {
	for _, c := range []struct {
		name string
		own  int
		uid  int // -1: that of the process
		err  string
	}{
		{"", 1000, -1, ""},
		{"", 0, nobodyNumber, ""},
		{"nobody", 0, nobodyNumber, ""},
		{"root", 0, -1, ""},
		{"0", 0, -1, ""},
		{"4000000", 0, 4000000, ""},
		{"4000000", 4000000, -1, ""},
		{"nobody", 1000, 0, `process.user is "nobody", and this worker runs as user 1000, who cannot run programs as another: start it as root`},
		{"root", 1000, 0, "start it as root"},
		{"no-such-user", 0, 0, `process.user is "no-such-user", and this machine has no such user`},
	} {
		u, err := findUser(c.name, c.own)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q of %d: %v, want %s", c.name, c.own, err, c.err)
			}
		case err != nil || (u == nil) != (c.uid < 0) || u != nil && u.UID != c.uid:
			t.Errorf("%q of %d: %+v, %v", c.name, c.own, u, err)
		}
	}
}

// What is looked at with the rights of a user is what the user may, and the process keeps its own.
func TestRightsOfAUser(t *testing.T) {
	u := needRoot(t)
	file := filepath.Join(t.TempDir(), "root's")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	read := func() error { _, err := os.ReadFile(file); return err }
	if err := u.Do(read); !errors.Is(err, unix.EACCES) {
		t.Errorf("as %s: %v", u.Name, err)
	}
	if err := u.Do(func() error { return unix.Access("/", unix.R_OK) }); err != nil {
		t.Error(err)
	}
	if err := read(); err != nil {
		t.Error(err)
	}
	if err := (*User)(nil).Do(read); err != nil {
		t.Error(err)
	}
}

// The thread that has a user's rights to files is root's in all else: that user may not kill it, and with it all of the process.
func TestNobodyKillsAThreadWithTheirRights(t *testing.T) {
	u := *needRoot(t)
	u.Groups = []int{4000001}
	var out strings.Builder
	err := u.Do(func() error {
		text, err := os.ReadFile("/proc/thread-self/status")
		if want := "Uid:\t0\t0\t0\t65534\nGid:\t0\t0\t0\t65534\n"; !strings.Contains(string(text), want) ||
			!strings.Contains(string(text), "Groups:\t65534 4000001") {
			t.Errorf("%s", text)
		}
		kill := fmt.Sprintf("exec 2>&1; kill -0 %d && echo it may", unix.Gettid())
		g, failure := (&Program{Path: "/bin/sh", Args: []string{"-c", kill}, Dir: "/", User: &u, Output: &out}).Start()
		if failure == nil {
			<-g.Done()
		}
		return errors.Join(err, failure)
	})
	if err != nil || strings.Contains(out.String(), "it may") || out.Len() == 0 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// What a user may run is what the kernel says, and where that cannot say it, what the modes do.
func TestWhatAUserMayRun(t *testing.T) {
	u := *needRoot(t)
	u.Groups = []int{4000001}
	folder := t.TempDir()
	for _, f := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(folder, "program")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, owner := range [][2]int{{0, 0}, {u.UID, 0}, {0, u.GID}, {0, 4000001}, {u.UID, u.GID}, {4000002, 4000002}} {
		for _, mode := range []os.FileMode{0, 0o100, 0o010, 0o001, 0o110, 0o101, 0o011, 0o111} {
			if err := errors.Join(os.Chown(file, owner[0], owner[1]), os.Chmod(file, mode)); err != nil {
				t.Fatal(err)
			}
			bit := os.FileMode(0o001)
			switch {
			case owner[0] == u.UID:
				bit = 0o100
			case owner[1] == u.GID || owner[1] == 4000001:
				bit = 0o010
			}
			if err := u.Do(func() error { return u.MayRun(file) }); (err == nil) != (mode&bit != 0) {
				t.Errorf("%v, mode %v: %v", owner, mode, err)
			}
			if err := u.mayRunByMode(file); (err == nil) != (mode&bit != 0) {
				t.Errorf("%v, mode %v, by mode: %v", owner, mode, err)
			}
		}
	}
}

// A process that may not become others, root in a container or a user namespace, is told what to do.
func TestUsersThatCannotBeHad(t *testing.T) {
	u := needRoot(t)
	none := &User{Name: "none", UID: -1, GID: u.GID}
	if err := none.Do(func() error { return nil }); err == nil || !strings.Contains(err.Error(), `set process.user = "root"`) {
		t.Errorf("%v", err)
	}
}

// A program of another user has that user's numbers, alone, cannot become another by any program, and may open its output.
func TestProgramsOfAUser(t *testing.T) {
	u := *needRoot(t)
	u.Groups = []int{4000001}
	const script = `exec 2>&1; echo $(id -u):$(id -g):$(id -G) >/dev/stdout; grep NoNewPrivs /proc/self/status`
	run := func(as *User) string {
		var out strings.Builder
		g, err := (&Program{Path: "/bin/sh", Args: []string{"-c", script}, Dir: "/", User: as, Output: &out}).Start()
		if err != nil {
			t.Fatal(err)
		}
		<-g.Done()
		return out.String()
	}
	if got, want := run(&u), "65534:65534:65534 4000001\nNoNewPrivs:\t1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := run(nil); !strings.HasPrefix(got, "0:0:") || !strings.HasSuffix(got, "NoNewPrivs:\t0\n") {
		t.Errorf("%q", got)
	}
}
