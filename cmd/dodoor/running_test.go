package main

import (
	"log/slog"
	"testing"

	"dodoor/conf"
	"dodoor/localcluster"
)

// running is a cluster of two workers in this process, with overrides of its configuration, until the test ends.
func running(t *testing.T, sets ...string) *localcluster.Cluster {
	t.Helper()
	c, err := conf.Load("single", append([]string{"class.laptop.count=2", `http.listen=""`}, sets...))
	if err != nil {
		t.Fatal(err)
	}
	l, err := localcluster.Start(c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	if err := l.AwaitWorkers(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// sleeping is of workers whose tasks do nothing but last.
const sleeping = `worker.executor="sleep"`
