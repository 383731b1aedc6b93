package host

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"dodoor/internal/procfs"
)

// Whether hosts reach each other's ports is to be known before anything runs there, so meanwhile something else answers: a
// process in the background, so that nobody has to hold an ssh connection to every host at once. It is found and stopped
// as a service is.
const (
	answering = "reachability"
	answerFor = 5 * time.Minute // whoever wanted to know was killed, should it take longer
)

// StartAnswering has a process in the background answer at the services' ports, until StopAnswering.
func (a *Agent) StartAnswering(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	argv := []string{a.Folder.Binary(), "host", "answer", "-conf", a.Configuration, "-folder", string(a.Folder), "-host", a.Host}
	_, err := Start(ctx, a.Folder, answering, detached(a.Folder, answering, argv), func() error {
		for _, address := range a.addresses() {
			if err := dial(ctx, address); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// StopAnswering ends that process, if there is one.
func (a *Agent) StopAnswering() error {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	_, err := Stop(ctx, a.Folder, answering)
	return err
}

// Answer is that process: it answers until the context ends, or nobody can need it any more.
func (a *Agent) Answer(ctx context.Context) error {
	lock, err := a.Folder.hold(answering)
	if err != nil {
		return err
	}
	defer lock.Close()
	s := State{Service: answering, Supervisor: os.Getpid(), PID: os.Getpid(), Since: time.Now()}
	if s.Identity, err = procfs.Identity(s.Supervisor); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	var noted error
	Answer(ctx, slices.Sorted(maps.Values(a.addresses())), func() {
		if noted = a.Folder.write(&s); noted != nil {
			cancel()
		}
	})
	return noted
}
