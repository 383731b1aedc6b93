package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"dodoor/internal/wholefile"
)

// lookEvery is how often Start and Stop look whether what they wait for has happened.
const lookEvery = 20 * time.Millisecond

// A launch makes a supervisor start, one that goes on when this process has ended. It returns what tells whether that
// supervisor has ended for good.
type launch func(context.Context) (ended func() bool, err error)

// detached launches a supervisor as a process that belongs to nobody.
func detached(f Folder, service string, argv []string) launch {
	return func(context.Context) (func() bool, error) {
		log, err := os.OpenFile(f.Log(service), os.O_WRONLY|os.O_CREATE|os.O_APPEND, wholefile.FileMode)
		if err != nil {
			return nil, err
		}
		defer log.Close()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, string(f)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		mine := cmd.Process.Pid
		return func() bool {
			pid, _ := syscall.Wait4(mine, nil, syscall.WNOHANG, nil)
			return pid == mine
		}, cmd.Process.Release()
	}
}

// Start makes sure that a service is supervised and ready, as ready tells, before the context ends. A service that runs is
// left alone, whatever it runs and whoever supervises it.
func Start(ctx context.Context, f Folder, service string, begin launch, ready func() error) (State, error) {
	if s, err := f.StateOf(service); err != nil || s.Running {
		return s, err
	}
	lock, err := f.hold(service) // makes the folders
	if err != nil {
		return State{}, err
	}
	lock.Close()
	var written int64 // of the log, before
	if log, err := os.Stat(f.Log(service)); err == nil {
		written = log.Size()
	}
	ended, err := begin(ctx)
	if err != nil {
		return State{}, fmt.Errorf("start %s: %w", service, err)
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	notReady := errors.New("it has not started")
	for {
		select {
		case <-ctx.Done():
			return State{}, fmt.Errorf("%s is not ready: %w; its log ends: %s", service, notReady, f.tail(service, written))
		case <-ticker.C:
			s, err := f.StateOf(service)
			if err == nil && !s.Running && ended() {
				return State{}, fmt.Errorf("%s ended at once: %s", service, f.tail(service, written))
			}
			if err != nil || s.PID == 0 {
				continue
			}
			if notReady = ready(); notReady == nil {
				return s, nil
			}
		}
	}
}

// Stop asks a service to end, through its supervisor, and waits for both. When the context ends it kills them. A service
// that does not run is as it should be. It reports whether it had to kill.
func Stop(ctx context.Context, f Folder, service string) (killed bool, err error) {
	s, err := f.StateOf(service)
	if err != nil || !s.Running {
		return false, err
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	asked := 0
	for ended := ctx.Done(); ; {
		if s.Supervisor > 0 && s.Supervisor != asked { // a supervisor that has just begun is not known yet
			asked = s.Supervisor
			if err := syscall.Kill(asked, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return false, fmt.Errorf("stop %s, process %d: %w", service, asked, err)
			}
		}
		select {
		case <-ticker.C:
		case <-ended:
			ended, killed = nil, true
		}
		if killed {
			// The service first: a supervisor that were gone could not tell which one it was.
			for _, pid := range []int{s.PID, s.Supervisor} {
				if pid > 0 {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}
		now, err := f.StateOf(service)
		if err != nil || !now.Running {
			return killed, err
		}
		if killed && s.PID == 0 && s.Supervisor == 0 && now.PID == 0 && now.Supervisor == 0 {
			return false, fmt.Errorf("%s runs, and its note does not say as which process: end the one that holds %s (fuser finds it)",
				service, f.lock(service))
		}
		s = now
	}
}

// tail is the end of what a log got since a position, on one line.
func (f Folder) tail(service string, since int64) string {
	const most = 2000
	text, err := os.ReadFile(f.Log(service))
	if err != nil {
		return err.Error()
	}
	text = text[min(int(since), len(text)):]
	text = text[max(0, len(text)-most):]
	return oneLine(string(text))
}

func oneLine(text string) string {
	return strings.Join(strings.Split(strings.TrimSpace(text), "\n"), " | ")
}
