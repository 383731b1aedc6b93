package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
	"dodoor/internal/wholefile"
)

// State is how one service is. Its supervisor writes it; Running is whether that supervisor lives.
type State struct {
	Service    string    `json:"service"`
	Running    bool      `json:"running"`
	Supervisor int       `json:"supervisor"` // process id; 0: not known yet
	Identity   string    `json:"identity"`   // of the supervisor: no later process of its id has it
	PID        int       `json:"pid"`        // of the service; 0: between two starts
	Since      time.Time `json:"since"`      // of the service's last start
	Version    string    `json:"version"`    // of what it ran then: binary-configuration
	Unit       string    `json:"unit"`       // of systemd, that runs the supervisor; empty: it runs by itself
	Restarts   int       `json:"restarts"`
	LastExit   string    `json:"last_exit,omitempty"` // how it ended the last time
}

// StateOf reads how a service is. A service that was never started here is not running.
func (f Folder) StateOf(service string) (State, error) {
	s := State{Service: service}
	text, err := os.ReadFile(f.note(service))
	switch {
	case err == nil:
		err = json.Unmarshal(text, &s)
	case errors.Is(err, os.ErrNotExist): // or its supervisor has only just begun
		err = nil
	}
	if err != nil {
		return s, fmt.Errorf("state of %s: %w", service, err)
	}
	s.Running, err = f.held(service)
	if !s.Running || !procfs.Lives(s.Identity) { // the note may be an earlier supervisor's
		s.Supervisor, s.PID, s.Unit = 0, 0, ""
	}
	return s, err
}

// write notes a state for whoever asks.
func (f Folder) write(s *State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return wholefile.Write(f.note(s.Service), append(text, '\n'))
}

// held reports whether a supervisor holds the lock of a service. The kernel lets go of it when the supervisor dies,
// however it dies, so a process id that somebody else has by now is no trap.
func (f Folder) held(service string) (bool, error) {
	file, err := os.Open(f.lock(service))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lock := whole(unix.F_WRLCK)
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, fmt.Errorf("lock of %s: %w", service, err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

// whole is a lock of a whole file that belongs to the open file, not to the process.
func whole(kind int16) unix.Flock_t { return unix.Flock_t{Type: kind, Whence: io.SeekStart} }

// ErrFinal is what another supervisor, started at once, would run into as well.
var ErrFinal = errors.New("trying again would not help")

// errHeld: somebody supervises that service already.
var errHeld = fmt.Errorf("is supervised already: %w", ErrFinal)

// hold takes the lock of a service until the file is closed.
func (f Folder) hold(service string) (*os.File, error) {
	for _, dir := range []string{filepath.Dir(f.lock(service)), filepath.Dir(f.Log(service))} {
		if err := os.MkdirAll(dir, wholefile.FolderMode); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(f.lock(service), os.O_RDWR|os.O_CREATE, wholefile.FileMode)
	if err != nil {
		return nil, err
	}
	lock := whole(unix.F_WRLCK)
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		file.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("%s %w", service, errHeld)
		}
		return nil, fmt.Errorf("lock of %s: %w", service, err)
	}
	return file, nil
}
