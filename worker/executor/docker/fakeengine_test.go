package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

var errDown = errors.New("connection refused")

// fakeEngine is an engine in memory. Its containers all do the same.
type fakeEngine struct {
	takes      time.Duration // a container's program
	code       int
	prints     string
	listens    bool  // attachments end when they are hung up
	lostOutput error // the end of an attachment
	sample     container.StatsResponse
	oom        func(looks int) bool // after so many inspections

	mu         sync.Mutex
	calls      []string // but stats and ping
	before     map[string]func(ctx context.Context) error
	down       bool // nothing is answered
	containers map[string]*fakeContainer
	created    []asked
	most       int // containers at one time
}

type fakeContainer struct {
	owned
	worker          string
	started         time.Time
	running, killed bool
	changed         chan struct{} // closed when it ends, or when the engine goes
	looks           int
}

func newFake(takes time.Duration, code int, prints string) *fakeEngine {
	return &fakeEngine{takes: takes, code: code, prints: prints, before: map[string]func(context.Context) error{},
		containers: map[string]*fakeContainer{}, oom: func(int) bool { return false }}
}

// executor returns an executor of worker w.
func (f *fakeEngine) executor() *Executor {
	return newExecutor(Config{User: "1:2", PidsLimit: 9, TmpfsMB: 16, Worker: "w"}, f, self)
}

// step notes a call, and does what a test wants done before it.
func (f *fakeEngine) step(ctx context.Context, call string) error {
	f.mu.Lock()
	if call != "stats" && call != "ping" {
		f.calls = append(f.calls, call)
	}
	down, before := f.down, f.before[call]
	f.mu.Unlock()
	if down {
		return errDown
	}
	if before != nil {
		if err := before(ctx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// once wants something done before the next call of a kind.
func (f *fakeEngine) once(call string, do func(ctx context.Context) error) {
	f.before[call] = func(ctx context.Context) error {
		f.mu.Lock()
		delete(f.before, call)
		f.mu.Unlock()
		return do(ctx)
	}
}

// takenDown is a step at which the engine dies. Its containers run on.
func (f *fakeEngine) takenDown(context.Context) error {
	f.set(true)
	return errDown
}

func (f *fakeEngine) set(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
	for _, c := range f.containers {
		if down {
			c.change()
		}
	}
}

// change wakes whoever waits for the container. The lock is held.
func (c *fakeContainer) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// silent is a step at which the engine does not answer.
func silent(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (f *fakeEngine) ping(ctx context.Context) error { return f.step(ctx, "ping") }

func (f *fakeEngine) image(ctx context.Context, _ string) error { return f.step(ctx, "image") }

func (f *fakeEngine) create(ctx context.Context, name string, c *container.Config, h *container.HostConfig) (string, error) {
	if err := f.step(ctx, "create"); err != nil {
		return "", err
	}
	f.mu.Lock()
	f.created = append(f.created, asked{c, h})
	f.mu.Unlock()
	f.put(owned{"id-of-" + name, name, c.Labels[ownerLabel]}, c.Labels[workerLabel])
	return "id-of-" + name, nil
}

func (f *fakeEngine) put(c owned, worker string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.containers[c.name] = &fakeContainer{owned: c, worker: worker, changed: make(chan struct{})}
	f.most = max(f.most, len(f.containers))
}

// find returns a container by name or id. The lock is held.
func (f *fakeEngine) find(name string) (*fakeContainer, error) {
	for _, c := range f.containers {
		if c.name == name || c.id == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no such container: %s: %w", name, errdefs.ErrNotFound)
}

func (f *fakeEngine) wait(ctx context.Context, name string, until container.WaitCondition) (<-chan exit, error) {
	if err := f.step(ctx, "wait"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.find(name)
	if err != nil {
		return nil, err
	}
	ended := make(chan exit, 1)
	if until == container.WaitConditionNotRunning && !c.running {
		ended <- exit{code: f.code}
		return ended, nil
	}
	changed := c.changed
	go func() {
		select {
		case <-changed:
			ended <- f.end(c)
		case <-ctx.Done():
			ended <- exit{err: ctx.Err()}
		}
	}()
	return ended, nil
}

func (f *fakeEngine) end(c *fakeContainer) exit {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down:
		return exit{err: io.ErrUnexpectedEOF}
	case c.killed:
		return exit{code: 137}
	}
	return exit{code: f.code}
}

func (f *fakeEngine) start(ctx context.Context, name string) error {
	if err := f.step(ctx, "start"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.find(name)
	if err != nil {
		return err
	}
	c.running, c.started = true, time.Now()
	time.AfterFunc(f.takes, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if c.running {
			c.running = false
			c.change()
		}
	})
	return nil
}

func (f *fakeEngine) stats(ctx context.Context, _ string) (*container.StatsResponse, error) {
	return &f.sample, f.step(ctx, "stats")
}

func (f *fakeEngine) inspect(ctx context.Context, name string) (*container.State, error) {
	if err := f.step(ctx, "inspect"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.find(name)
	if err != nil {
		return nil, err
	}
	state := &container.State{Running: c.running, StartedAt: c.started.Format(time.RFC3339Nano)}
	if !c.running {
		c.looks++
		state.ExitCode, state.OOMKilled = f.code, f.oom(c.looks)
	}
	return state, nil
}

func (f *fakeEngine) logs(ctx context.Context, _ string, w io.Writer) error {
	if err := f.step(ctx, "logs"); err != nil {
		return err
	}
	_, err := io.WriteString(w, f.prints)
	return err
}

func (f *fakeEngine) kill(ctx context.Context, name string) error {
	if err := f.step(ctx, "kill"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.find(name)
	if err != nil {
		return err
	}
	if !c.running {
		return fmt.Errorf("container %s is not running: %w", name, errdefs.ErrConflict)
	}
	c.running, c.killed = false, true
	c.change()
	return nil
}

func (f *fakeEngine) remove(ctx context.Context, name string) error {
	if err := f.step(ctx, "remove"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, err := f.find(name)
	if err != nil {
		return err
	}
	delete(f.containers, c.name)
	return nil
}

func (f *fakeEngine) list(ctx context.Context, worker string) (all []owned, err error) {
	if err := f.step(ctx, "list"); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.containers {
		if c.worker == worker {
			all = append(all, c.owned)
		}
	}
	return all, nil
}

func (f *fakeEngine) close() error { return f.step(context.Background(), "close") }

// names lists the containers, once everything is at rest.
func (f *fakeEngine) names() (names []string) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for name := range f.containers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
