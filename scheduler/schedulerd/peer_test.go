package schedulerd

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Placements whose answer was lost are repeated, and the worker knows them.
func TestLostAnswerIsRepeated(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	d := newReplica(t, data.Addr(), dodoor(t))
	start(t, d)
	w := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	w.loses(1)
	submitAll(t, d, ids(20)...)
	w.until(t, "was told again", func() bool { return len(w.held) == 20 && w.repeated > 0 })
	w.finishAll(t, d)
	for _, r := range collect(t, d, 20) {
		if r.Outcome != cluster.Finished || r.Attempts != 1 {
			t.Errorf("record %+v", r)
		}
	}
	untilReady(t, d, 1)
}

// A worker whose answers to placements do not come is given up after the grace, although it takes every
// handshake.
func TestSilentWorkerIsGivenUp(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.NodeGrace = 30 * time.Millisecond
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	start(t, d)
	workers := []*fakeWorker{startWorker(t, "w1", data.Addr()), startWorker(t, "w2", data.Addr())}
	untilReady(t, d, 2)
	workers[0].loses(1 << 30)
	submitAll(t, d, ids(20)...)
	workers[1].until(t, "holds all 20 tasks", func() bool { return len(workers[1].held) == 20 })
	workers[0].loses(0)
	untilReady(t, d, 2) // it is tried again and again
}
