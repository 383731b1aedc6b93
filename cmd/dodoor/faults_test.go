package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// watched tells of the first submission, and passes everything on.
type watched struct {
	rpc.Scheduler
	once  sync.Once
	first func()
}

func (w *watched) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	refused, err := w.Scheduler.Submit(ctx, r)
	w.once.Do(w.first)
	return refused, err
}

// hourLong is a cluster with one node, and a run of two tasks of an hour each on it.
func hourLong(t *testing.T, first func()) (*localCluster, *replay) {
	t.Helper()
	rows := t.TempDir()
	task := "0,1,10,0,3600000,0,sleep,short\n1,1,10,0,3600000,1,sleep,short\n"
	c, err := conf.Load("single", []string{`worker.executor="sleep"`, `http.listen=""`, "generator.n=2", `scheduler.drain_timeout="20ms"`,
		`worker.drain_timeout="20ms"`, "generator.qps=100", `generator.trace="` + write(t, "t.csv", task) + `"`, `generator.out="` + rows + `"`})
	if err != nil {
		t.Fatal(err)
	}
	workload, err := newWorkload(c, "")
	if err != nil {
		t.Fatal(err)
	}
	l, err := startCluster(c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.stop)
	if err := l.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.targets[0].Service = &watched{Scheduler: l.targets[0].Service, first: first}
	return l, &replay{c: c, log: slog.New(slog.DiscardHandler), on: "local", dir: runDir(c), quiet: true,
		config: drive.Config{Workload: workload, Schedulers: l.targets, Data: l.dataClient}}
}

type broken struct{ now chan struct{} }

func (broken) Addr() string { return "nowhere" }
func (broken) Ready() error { return nil }
func (b broken) Run(ctx context.Context) error {
	select {
	case <-b.now:
		return errors.New("the disk is on fire")
	case <-ctx.Done():
		return nil
	}
}

// A service that fails while tasks run ends the run, with its error.
func TestServiceFailsDuringARun(t *testing.T) {
	b := broken{make(chan struct{})}
	l, r := hourLong(t, func() { close(b.now) })
	l.run(b, 2)
	ctx, cancel := l.while(t.Context())
	defer cancel()
	if code, _ := r.run(ctx, nil); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if fault := l.fault(); fault == nil || !strings.Contains(fault.Error(), "on fire") || !errors.Is(context.Cause(ctx), fault) {
		t.Errorf("the fault is %v, the run ended for %v", fault, context.Cause(ctx))
	}
}

// Two signals: the run ends, and every task has its row.
func TestSecondSignalKeepsTheRows(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	ctx, stop := signalled(log)
	defer stop()
	signal := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	_, r := hourLong(t, func() {
		signal()
		<-ctx.Done() // two signals that are one too close to the other are one
		signal()
	})
	r.c.Scheduler.DrainTimeout = conf.Duration(callTimeout * 100)
	code, err := r.run(ctx, nil)
	if code != exitFailed || err == nil || !strings.Contains(err.Error(), "abandoned") {
		t.Errorf("exit code %d, %v", code, err)
	}
	if rows := rowsIn(t, r.c.Generator.Out); len(rows) != 2 {
		t.Errorf("%d rows of 2 tasks", len(rows))
	}
}
