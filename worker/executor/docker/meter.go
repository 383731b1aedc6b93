package docker

import (
	"context"
	"os"
	"time"

	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"

	"dodoor/internal/cgroup"
)

// meter follows what a running container takes. The figures are valid once it was stopped, which
// happens once.
type meter struct {
	cpu  time.Duration
	peak int64 // bytes
	stop func()
}

// measure starts a meter, and notes when the engine started the program.
func (x *execution) measure() *meter {
	state, err := x.inspect()
	if err != nil {
		return x.followStats()
	}
	x.noteStart(state)
	if !state.Running {
		return &meter{stop: func() {}} // what it took is forgotten
	}
	if m := followAccount(state.Pid, x.id); m != nil {
		return m
	}
	return x.followStats()
}

// noteStart reads the engine's clock, which on another machine may be off.
func (x *execution) noteStart(state *container.State) {
	if started, err := time.Parse(time.RFC3339Nano, state.StartedAt); err == nil {
		x.startup = min(max(started.Sub(x.begin), 0), time.Since(x.begin))
	}
}

// readEvery is how old a figure can be when the engine was faster than the last look.
const readEvery = 200 * time.Millisecond

// followAccount reads the kernel's account of a container, now and then, and once more when its first
// process has ended: that is just before the engine removes the account. It returns nil when the
// container is not on this machine.
func followAccount(pid int, id string) *meter {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	process := os.NewFile(uintptr(fd), "pidfd")
	account, err := cgroup.FindAccount("/", pid, id) // after the process is held: its number means nobody else now
	conn, connErr := process.SyscallConn()
	if err != nil || connErr != nil || process.SetReadDeadline(time.Time{}) != nil {
		process.Close()
		return nil
	}
	m, quit, done := &meter{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for ended := false; !ended; {
			process.SetReadDeadline(time.Now().Add(readEvery))
			ended = conn.Read(hasEnded) == nil
			m.note(account.Read())
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	m.stop = func() {
		close(quit)
		<-done
		process.Close()
	}
	return m
}

func (m *meter) note(cpu time.Duration, peak int64) {
	m.cpu, m.peak = max(m.cpu, cpu), max(m.peak, peak)
}

// hasEnded reports whether the process behind a pidfd is gone.
func hasEnded(pidfd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
	return n > 0 || err != nil && err != unix.EINTR
}

// sampleEvery is the pause between two samples of the engine, which may take a second each.
const sampleEvery = 500 * time.Millisecond

// followStats asks the engine for samples, wherever it is.
func (x *execution) followStats() *meter {
	ctx, cancel := context.WithCancel(context.Background())
	m, done := &meter{}, make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			if sample, err := x.engine.stats(ctx, x.name); err == nil {
				m.take(sample)
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	m.stop = func() {
		cancel()
		<-done
	}
	return m
}

// take notes a sample. Its peak is the kernel's under control groups of version 1; those of version 2
// tell what is in use now, from which the cache that can go at once is taken, as docker stats does.
func (m *meter) take(sample *container.StatsResponse) {
	memory := &sample.MemoryStats
	peak := int64(memory.MaxUsage)
	if peak == 0 {
		peak = int64(memory.Usage) - int64(memory.Stats["inactive_file"])
	}
	m.note(time.Duration(sample.CPUStats.CPUUsage.TotalUsage), peak)
}
