package host

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dodoor/internal/wholefile"
)

// systemd is the one that this user may have units in: root the machine's, everybody else one of their own.
type systemd struct {
	booted string // exists where systemd runs the machine: sd_booted(3)
	dir    string // of unit files; empty: unknown
	uid    int
}

func thisSystemd() systemd {
	s := systemd{booted: "/run/systemd/system", dir: "/etc/systemd/system", uid: os.Geteuid()}
	if s.uid != 0 {
		s.dir = ""
		if home, err := os.UserHomeDir(); err == nil {
			s.dir = filepath.Join(home, ".config", "systemd", "user")
		}
	}
	return s
}

var errNoSystemd = errors.New("no systemd runs this machine")

// usable tells what keeps services from being units here: nil for nothing.
func (s systemd) usable(ctx context.Context) error {
	_, booted := os.Stat(s.booted)
	_, found := exec.LookPath("systemctl")
	if booted != nil || found != nil {
		return errNoSystemd
	}
	if s.dir == "" {
		return errors.New("HOME is not set, and units of a user lie below it")
	}
	if s.uid == 0 {
		return s.answers(ctx)
	}
	if s.lingers(ctx) {
		return s.answers(ctx)
	}
	if _, err := s.run(ctx, "loginctl", "--no-ask-password", "enable-linger", strconv.Itoa(s.uid)); err != nil || !s.lingers(ctx) {
		return fmt.Errorf("user %d has no lingering, so that units would end with the last session: as root, loginctl enable-linger %[1]d",
			s.uid)
	}
	for { // its systemd is about to start
		err := s.answers(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lookEvery):
		}
	}
}

func (s systemd) answers(ctx context.Context) error {
	_, err := s.version(ctx)
	return err
}

// version is a number; 0 where it is called otherwise.
func (s systemd) version(ctx context.Context) (n int, err error) {
	answer, err := s.systemctl(ctx, "show", "--property=Version", "--value")
	_, _ = fmt.Sscanf(answer, "%d", &n) // of 252.39-1~deb12u2
	return n, err
}

// lingers reports whether the user's systemd runs from boot to shutdown, whoever is logged in.
func (s systemd) lingers(ctx context.Context) bool {
	answer, err := s.run(ctx, "loginctl", "show-user", strconv.Itoa(s.uid), "--property=Linger", "--value")
	return err == nil && strings.TrimSpace(answer) == "yes"
}

func (s systemd) systemctl(ctx context.Context, args ...string) (string, error) {
	if s.uid != 0 {
		args = append([]string{"--user"}, args...)
	}
	return s.run(ctx, "systemctl", args...)
}

func (s systemd) run(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = os.Environ()
	if s.uid != 0 && os.Getenv("XDG_RUNTIME_DIR") == "" { // an sshd without PAM does not set it
		cmd.Env = append(cmd.Env, "XDG_RUNTIME_DIR=/run/user/"+strconv.Itoa(s.uid))
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), cmp.Or(ctx.Err(), err), oneLine(stderr.String()))
	}
	return stdout.String(), nil
}

// property is one of a unit, as systemd knows it now; of an unknown unit too.
func (s systemd) property(ctx context.Context, unit, name string) (string, error) {
	answer, err := s.systemctl(ctx, "show", unit, "--property="+name, "--value")
	return strings.TrimSpace(answer), err
}

// others tells whether a unit file is there that is not of the unit's cluster, and says whose it is. Names are those of clusters
// and services joined by dashes, so two clusters of one machine may have the same.
func (s systemd) others(u *unit) (bool, error) {
	path := filepath.Join(s.dir, u.name)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(text)) {
		folder, ok := strings.CutPrefix(strings.TrimSpace(line), "WorkingDirectory=")
		switch {
		case ok && folder == string(u.folder):
			return false, nil
		case ok:
			return true, fmt.Errorf("%s is of the cluster in %s: dodoor host down there, or set another cluster.name", path, folder)
		}
	}
	return true, fmt.Errorf("%s is not of dodoor host up: remove it, or set another cluster.name", path)
}

// start installs a unit and starts it. It returns what tells whether systemd has given up.
func (s systemd) start(ctx context.Context, u *unit) (ended func() bool, err error) {
	if err := s.install(ctx, u); err != nil {
		return nil, err
	}
	// Not start: that waits where systemd is about to start the unit again.
	if _, err := s.systemctl(ctx, "restart", u.name); err != nil {
		return nil, err
	}
	return func() bool {
		state, err := s.property(ctx, u.name, "ActiveState")
		return err == nil && (state == "failed" || state == "inactive")
	}, nil
}

// install has a unit started at every boot to come.
func (s systemd) install(ctx context.Context, u *unit) error {
	if _, err := s.others(u); err != nil {
		return err
	}
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if err := wholefile.WritePublic(filepath.Join(s.dir, u.name), u.text(version)); err != nil {
		return err
	}
	if _, err := s.systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	_, err = s.systemctl(ctx, "enable", u.name)
	return err
}

// remove takes away all that is left of a unit; nothing left is fine, and what others have under its name stays. Its files go
// without systemctl: there may be no systemd any more that would do it.
func (s systemd) remove(ctx context.Context, u *unit) error {
	if s.dir == "" {
		return nil
	}
	if others, err := s.others(u); err != nil {
		if others {
			return nil
		}
		return err
	}
	file, link := filepath.Join(s.dir, u.name), filepath.Join(s.dir, u.target()+".wants", u.name)
	_, there := os.Lstat(file)
	_, linked := os.Lstat(link)
	if there != nil && linked != nil && !s.runs(ctx, u) {
		return nil
	}
	var problems []error
	if _, err := s.systemctl(ctx, "stop", u.name); err != nil {
		if state, _ := s.property(ctx, u.name, "ActiveState"); state != "inactive" { // else systemd has forgotten it already
			problems = append(problems, err)
		}
	}
	for _, path := range []string{file, link} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			problems = append(problems, err)
		}
	}
	_ = os.Remove(filepath.Dir(link)) // or it is not empty
	if _, err := s.systemctl(ctx, "daemon-reload"); err != nil {
		problems = append(problems, err)
	}
	_, _ = s.systemctl(ctx, "reset-failed", u.name) // fails for a unit that has not
	if len(problems) > 0 {
		return fmt.Errorf("remove %s: %w", u.name, errors.Join(problems...))
	}
	return nil
}

// unitsOf lists the units of a folder that have a file, whatever cluster and service they are named after.
func (s systemd) unitsOf(f Folder) (all []*unit) {
	if s.dir == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(s.dir, unitName("*", "*"))) // the pattern is well-formed
	for _, file := range files {
		u := &unit{name: filepath.Base(file), folder: f, system: s.uid == 0}
		if others, err := s.others(u); err == nil && !others {
			all = append(all, u)
		}
	}
	return all
}

// runs reports whether systemd runs a unit of the cluster whose file is gone.
func (s systemd) runs(ctx context.Context, u *unit) bool {
	if _, err := os.Stat(s.booted); err != nil {
		return false
	}
	state, err := s.property(ctx, u.name, "ActiveState")
	if err != nil || state == "inactive" {
		return false
	}
	folder, err := s.property(ctx, u.name, "WorkingDirectory")
	return err == nil && Folder(folder) == u.folder
}
