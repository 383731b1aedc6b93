package schedulerd

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// heldDisk writes a group when it is let, or at once while it holds nothing.
type heldDisk struct {
	write   func([]scheduler.Change) error
	holds   atomic.Bool
	entered chan struct{}
	let     chan struct{}
}

// hold puts a disk that can be held under a scheduler that does not run yet.
func hold(d *Daemon) *heldDisk {
	h := &heldDisk{write: d.record.write, entered: make(chan struct{}, 1), let: make(chan struct{})}
	d.record.write = func(changes []scheduler.Change) error {
		if h.holds.Load() {
			signal(h.entered)
			<-h.let
		}
		return h.write(changes)
	}
	return h
}

// release lets everything be written.
func (h *heldDisk) release() {
	h.holds.Store(false)
	close(h.let)
}

// rounds is how many calls are answered meanwhile: an answer that does not wait for the disk would have come by then.
const rounds = 200

// While a group is written nothing is answered that it has yet to keep: a worker is not thanked, a client is told of no end.
func TestNoAnswerBeforeItIsDurable(t *testing.T) {
	calls := map[string]func(ctx context.Context, d *Daemon) error{
		"Submit": func(ctx context.Context, d *Daemon) error {
			_, err := d.Submit(ctx, cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{spec("b")}})
			return err
		},
		"Collect": func(ctx context.Context, d *Daemon) error {
			_, err := d.Collect(ctx, cluster.CollectRequest{Client: "c", Max: 10})
			return err
		},
		"Jobs": func(ctx context.Context, d *Daemon) error {
			_, err := d.Jobs(ctx, cluster.JobQuery{Max: 10})
			return err
		},
		"Cancel": func(ctx context.Context, d *Daemon) error {
			_, err := d.Cancel(ctx, "a")
			return err
		},
		"CancelJob": func(ctx context.Context, d *Daemon) error {
			_, err := d.CancelJob(ctx, "j")
			return err
		},
	}
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	d := newDaemon(t, keeping(t, data.Addr(), t.TempDir()))
	disk := hold(d)
	start(t, d)
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	submitAll(t, client, "a")
	awaitHeld(t, []*fakeWorker{worker}, 1)
	disk.holds.Store(true)
	var released atomic.Bool
	var answers sync.WaitGroup
	answer := func(name string, call func()) {
		answers.Go(func() {
			call()
			if !released.Load() {
				t.Errorf("%s is answered, and what it tells is not durable", name)
			}
		})
	}
	answer("Complete", func() { worker.finishAll(t, client) })
	<-disk.entered
	for name, call := range calls {
		answer(name, func() {
			if err := call(t.Context(), d); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for range rounds {
		if _, err := client.Counters(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	released.Store(true)
	disk.release()
	answers.Wait()
}

// A scheduler whose disk takes no more, or takes for ever, is not ready.
func TestReadyAsksTheDisk(t *testing.T) {
	r := &record{d: &Daemon{cfg: Config{Journal: "the-folder"}}}
	for _, c := range []struct {
		full error
		busy time.Duration
		want string
	}{{}, {busy: slowAfter / 2}, {busy: 2 * slowAfter, want: "the-folder"}, {full: errors.New("no room"), want: "no room"}} {
		r.full = c.full
		r.under(time.Now().Add(-c.busy))
		err := r.ready()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
		r.under(time.Time{})
		if err := r.ready(); c.full == nil && err != nil {
			t.Errorf("when the group is written: %v", err)
		}
	}
}

// A scheduler that is removed for good, with a drain_timeout above its longest task, leaves no task in its journal.
func TestALongDrainLeavesNoTask(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	cfg.DrainTimeout = time.Hour
	d := newDaemon(t, cfg)
	stop, ended := begun(t, d)
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	submitAll(t, client, "a")
	awaitHeld(t, []*fakeWorker{worker}, 1)
	stop()
	worker.finishAll(t, client)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	next := newDaemon(t, cfg)
	defer next.record.close()
	defer next.server.Close()
	if n := next.replica.Pending(); n != 0 {
		t.Errorf("%d tasks are left", n)
	}
}
