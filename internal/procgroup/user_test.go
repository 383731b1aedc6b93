package procgroup

import (
	"errors"
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
