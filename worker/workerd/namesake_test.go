package workerd

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/worker"
)

var taken = cluster.Errorf(cluster.DuplicateNode, "a worker named w1 is already running at elsewhere:1")

// A name that a live process holds elsewhere may become free: its holder may have died just now. Then
// the worker ends and says why.
func TestDuplicateNameEndsWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		b.data.refuse = taken
		serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		b.run(t)
		pass(worker.GiveUpName)
		if b.hasEnded() {
			t.Fatal("ended before the name could become free")
		}
		<-b.ended
		if lasted := time.Since(b.Daemon.start); lasted > worker.GiveUpName+time.Second {
			t.Errorf("ended after %v, want soon after %v", lasted, worker.GiveUpName)
		}
		if err := b.stop(); !errors.Is(err, cluster.DuplicateNode) || !strings.Contains(err.Error(), "already running at elsewhere:1") {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestWaitsForItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		b.data.refuse = taken
		serve(t, b.net.listen("data:1"), rpc.DataServiceService(b.data, dims))
		b.run(t)
		pass(worker.GiveUpName / 2)
		b.data.change(func() { b.data.refuse = nil })
		pass(cluster.RegisterEvery)
		if _, times := b.data.registered(); times != 1 {
			t.Errorf("registered %d times, want once", times)
		}
	})
}

// However long a worker has been running, its name gets the same time to become free.
func TestWaitsForItsNameAfterALongTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		pass(time.Hour)
		b.data.change(func() { b.data.node, b.data.refuse = nil, cluster.Errorf(cluster.UnknownNode, "restarted") })
		pass(10 * time.Second)
		b.data.change(func() { b.data.refuse = taken })
		pass(worker.GiveUpName / 2)
		if b.hasEnded() {
			t.Fatal("ended at once")
		}
		if b.Ready() == nil {
			t.Error("ready without being registered")
		}
		b.data.change(func() { b.data.refuse = nil })
		pass(cluster.RegisterEvery)
		if _, times := b.data.registered(); times != 2 {
			t.Errorf("registered %d times, want twice", times)
		}
	})
}

// The older of two processes ends, and gives its tasks back as lost: nobody cancelled them.
func TestNewerNamesakeEndsTheOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "running", takes: time.Hour}, task{id: "waiting", takes: time.Hour, cores: 4})
		b.data.change(func() { b.data.refuse = cluster.Errorf(cluster.Stale, "a newer process is registered") })
		pass(10 * time.Second)
		if !b.hasEnded() {
			t.Fatal("the older process runs on")
		}
		if err := b.stop(); !errors.Is(err, cluster.Stale) {
			t.Errorf("ended with %v, want stale", err)
		}
		for _, id := range []string{"running", "waiting"} {
			if got := b.sched.completions()[id]; len(got) != 1 || got[0].Outcome != cluster.Lost {
				t.Errorf("%s: %+v, want it lost", id, got)
			}
		}
	})
}
