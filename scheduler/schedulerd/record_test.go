package schedulerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/scheduler"
	"dodoor/scheduler/journal"
)

// keeping is a replica with a journal.
func keeping(t testing.TB, data, folder string) Config {
	cfg := replicaConfig(data, dodoor(t))
	cfg.Journal, cfg.Replica.RosterGrace = folder, time.Minute
	return cfg
}

func newDaemon(t testing.TB, cfg Config) *Daemon {
	t.Helper()
	cfg.Metrics = telemetry.NewRegistry("scheduler", "s1")
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func clientOf(t testing.TB, d *Daemon) *rpc.SchedulerClient {
	client := rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
	t.Cleanup(func() { client.Close() })
	return client
}

// begun runs a service until stop is called, or it ends by itself; ended tells how.
func begun(t testing.TB, d *Daemon) (stop func(), ended <-chan error) {
	ctx, stop := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- d.Run(ctx) }()
	return stop, result
}

// What a scheduler has accepted when it is told to stop, the next one ends: tasks that run, results that nobody has collected; and that is
// no failure.
func TestTheNextProcessGoesOn(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	d := newDaemon(t, cfg)
	stop, ended := begun(t, d)
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	submitAll(t, client, "ends")
	awaitHeld(t, []*fakeWorker{worker}, 1)
	worker.finishAll(t, client)
	submitAll(t, client, "runs-1", "runs-2")
	awaitHeld(t, []*fakeWorker{worker}, 2)
	stop()
	if err := <-ended; err != nil {
		t.Errorf("a scheduler that hands over ended with %v", err)
	}

	next := newDaemon(t, cfg)
	if next.self.Incarnation <= d.self.Incarnation || !next.self.Resumes {
		t.Errorf("after %+v comes %+v", d.self, next.self)
	}
	start(t, next)
	untilReady(t, next, 1)
	client = clientOf(t, next)
	worker.until(t, "asked", func() bool { return worker.received.Incarnation == next.self.Incarnation })
	worker.finishAll(t, client)
	var got []string
	for _, r := range collect(t, client, 3) {
		if r.Outcome != cluster.Finished {
			t.Errorf("%s: %v %s", r.ID, r.Outcome, r.Reason)
		}
		got = append(got, r.ID)
	}
	if slices.Sort(got); !slices.Equal(got, []string{"ends", "runs-1", "runs-2"}) {
		t.Errorf("collected %v", got)
	}
	reply, err := client.Collect(t.Context(), cluster.CollectRequest{Client: "nobody", Max: 1})
	if err != nil || !reply.Keeps || reply.Incarnation != d.self.Incarnation {
		t.Errorf("keeps %v, incarnation %d (%v): want that of the first process, %d", reply.Keeps, reply.Incarnation, err, d.self.Incarnation)
	}
}

// A scheduler whose clock was set back is newer all the same.
func TestTheClockMayBeSetBack(t *testing.T) {
	folder, ahead := t.TempDir(), int64(time.Hour)
	cfg := keeping(t, "127.0.0.1:1", folder)
	future := newDaemon(t, cfg)
	incarnation := future.start.UnixNano() + ahead
	future.record.close()
	var r record
	r.d = &Daemon{cfg: cfg, start: time.Unix(0, incarnation), log: quiet, metrics: future.metrics}
	if err := r.remember(r.d); err != nil {
		t.Fatal(err)
	}
	r.close()
	d := newDaemon(t, cfg)
	defer d.record.close()
	defer d.server.Close()
	future.server.Close()
	if d.self.Incarnation != incarnation+1 {
		t.Errorf("incarnation %d after %d", d.self.Incarnation, incarnation)
	}
}

// When the journal fails nothing is answered any more, and the service ends and says where and why.
func TestAJournalThatFails(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	d := newDaemon(t, cfg)
	var broken atomic.Bool
	write := d.record.write
	d.record.write = func(changes []scheduler.Change) error {
		if broken.Load() && len(changes) > 0 {
			return errors.New("journal " + cfg.Journal + ": no space left on device")
		}
		return write(changes)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	submitAll(t, client, "a")
	broken.Store(true)
	_, err := client.Submit(t.Context(), cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{spec("b")}})
	if err == nil {
		t.Error("a task is accepted that nobody keeps")
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "journal "+cfg.Journal) {
		t.Errorf("the service ended with %v", err)
	}
	next := newDaemon(t, cfg)
	defer next.record.close()
	defer next.server.Close()
	if list := next.replica.Query(cluster.TaskQuery{Max: 10}); len(list) != 1 || list[0].ID != "a" {
		t.Errorf("the next process knows %v", list)
	}
}

// A disk that is nearly full refuses new tasks, with the reason, and nothing else.
func TestANearlyFullDisk(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	d := newDaemon(t, keeping(t, data.Addr(), t.TempDir()))
	var full atomic.Pointer[error]
	d.record.look = func() error {
		if err := full.Load(); err != nil {
			return *err
		}
		return nil
	}
	start(t, d)
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	submitAll(t, client, "a")
	awaitHeld(t, []*fakeWorker{worker}, 1)
	nearly := errors.New("the disk is nearly full")
	full.Store(&nearly)
	d.record.looked()
	_, err := client.Submit(t.Context(), cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{spec("b")}})
	if !errors.Is(err, cluster.Overloaded) || !strings.Contains(err.Error(), "nearly full") {
		t.Errorf("submit: %v", err)
	}
	if cluster.AfterOf(err) != fullAfter {
		t.Errorf("its client comes back after %v, want %v", cluster.AfterOf(err), fullAfter)
	}
	if _, err := client.RetryJob(t.Context(), "j"); !errors.Is(err, cluster.Overloaded) {
		t.Errorf("retry: %v", err)
	}
	if err := d.Ready(); !errors.Is(err, nearly) {
		t.Errorf("ready: %v", err)
	}
	worker.finishAll(t, client)
	collect(t, client, 1)
}

// A scheduler that takes another policy goes on with its journal, and with results that nobody had collected.
func TestAnotherPolicyTakesTheJournal(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	cfg.MayRun = func(string) error { return nil }
	d := newDaemon(t, cfg)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	submitAll(t, client, "a")
	awaitHeld(t, []*fakeWorker{worker}, 1)
	worker.finishAll(t, client)
	if err := client.SwitchPolicy(t.Context(), "pot", 7); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.As(err, new(Switched)) {
		t.Fatalf("Run ended with %v", err)
	}
	next := newDaemon(t, cfg)
	start(t, next)
	if r := collect(t, clientOf(t, next), 1); r[0].ID != "a" {
		t.Errorf("collected %+v", r)
	}
}

// Answers wait until what they tell is in the journal, so that whatever was answered is there when the process stops at any moment.
func TestWhatWasAnsweredIsInTheJournal(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	folder := t.TempDir()
	d := newDaemon(t, keeping(t, data.Addr(), folder))
	start(t, d)
	startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := clientOf(t, d)
	for _, id := range ids(20) {
		submitAll(t, client, id)
		copied := filepath.Join(t.TempDir(), "copy") // as a process would find it that starts now
		if err := os.CopyFS(copied, os.DirFS(folder)); err != nil {
			t.Fatal(err)
		}
		if !holds(t, copied, id) {
			t.Fatalf("%s was accepted, and the journal does not have it", id)
		}
	}
}

// holds says whether the journal in a folder knows a task.
func holds(t *testing.T, folder, id string) (known bool) {
	t.Helper()
	j, err := journal.Open(folder, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Each(func(key string, _ []byte) error {
		known = known || strings.HasSuffix(key, id)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return known
}
