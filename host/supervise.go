package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"dodoor/internal/procfs"
	"dodoor/internal/wholefile"
)

// A supervisor starts a service that failed again after a pause that grows, and forgets the failures when the service has
// run for a while. What was wrong with its configuration is not going to change by itself: that ends the supervisor.
type pauses struct{ first, last, goodRun time.Duration }

var usual = pauses{first: time.Second, last: 30 * time.Second, goodRun: time.Minute}

const exitUsage = 2 // of every command of dodoor: wrong usage or configuration

// Supervise runs argv, of the version that its caller tells before every start, as a service until it ends well, or the
// context ends: then it asks the service to end, with SIGTERM, and waits for it, however long it drains. The service
// ends too when this process is killed. It fails where another supervisor has the service or the service refuses its
// configuration, which are ErrFinal, and where the service cannot start. unit is that of systemd which runs this process.
func Supervise(ctx context.Context, f Folder, service, unit string, argv []string, version func() (string, error)) error {
	return usual.supervise(ctx, f, State{Service: service, Unit: unit}, argv, version)
}

func (p pauses) supervise(ctx context.Context, f Folder, s State, argv []string, version func() (string, error)) error {
	lock, err := f.hold(s.Service)
	if err != nil {
		return err
	}
	defer lock.Close()
	log, err := os.OpenFile(f.Log(s.Service), os.O_WRONLY|os.O_CREATE|os.O_APPEND, wholefile.FileMode)
	if err != nil {
		return err
	}
	defer log.Close()
	// The kernel sends the signal of a parent's death when the thread ends that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.Supervisor = os.Getpid()
	if s.Identity, err = procfs.Identity(s.Supervisor); err != nil {
		return err
	}
	for pause := p.first; ; pause = min(2*pause, p.last) {
		if s.Version, err = version(); err != nil {
			return err
		}
		began := time.Now()
		again, err := s.run(ctx, f, argv, log)
		if !again || ctx.Err() != nil {
			return err
		}
		if time.Since(began) > p.goodRun {
			pause = p.first
		}
		fmt.Fprintf(log, "supervisor: %s ended: %s; it starts again in %v\n", s.Service, s.LastExit, pause)
		select {
		case <-time.After(pause):
			s.Restarts++
		case <-ctx.Done():
			return nil
		}
	}
}

// run is one life of the service. It reports whether there is to be another.
func (s *State) run(ctx context.Context, f Folder, argv []string, log *os.File) (again bool, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	// A group of its own: a terminal's interrupt is for the supervisor, which passes on what it means.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("start %s: %w", s.Service, err)
	}
	s.PID, s.Since = cmd.Process.Pid, time.Now()
	unknown := f.write(s)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if unknown != nil { // nobody could tell which process it is
		_ = cmd.Process.Signal(syscall.SIGTERM)
		return false, errors.Join(fmt.Errorf("%s is ended again: %w", s.Service, unknown), <-ended)
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGTERM) // or it has ended already
		err = <-ended
	}
	s.PID, s.LastExit = 0, cmd.ProcessState.String()
	noted := f.write(s)
	switch {
	case err == nil:
		return false, noted
	case cmd.ProcessState.ExitCode() == exitUsage:
		return false, fmt.Errorf("%s refuses to start (%s): see %s: %w", s.Service, s.LastExit, f.Log(s.Service), ErrFinal)
	}
	return true, noted
}
