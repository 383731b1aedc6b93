package workerd

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

// A worker that cannot listen any more ends with the reason, and gives its tasks back as lost: nobody
// cancelled them.
func TestBrokenListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "running", takes: time.Hour}, task{id: "waiting", takes: time.Hour, cores: 4})
		b.net.listeners["w1:1"].Close()
		pass(time.Second)
		if !b.hasEnded() {
			t.Fatal("runs on")
		}
		if err := b.stop(); err == nil {
			t.Error("ended without an error")
		}
		for _, id := range []string{"running", "waiting"} {
			if c := only(t, b.sched, id); c.Outcome != cluster.Lost {
				t.Errorf("%s: %+v", id, c)
			}
		}
		if node, _ := b.data.registered(); node != nil {
			t.Error("still registered")
		}
	})
}

// A listener that breaks while the worker drains is an error too, and changes nothing else.
func TestListenerBreaksDuringTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t)
		b.sched.accept(t, task{id: "a", takes: time.Second})
		b.shutDown()
		b.net.listeners["w1:1"].Close()
		pass(time.Second)
		if err := b.stop(); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("ended with %v, want the listener's end", err)
		}
		if c := only(t, b.sched, "a"); c.Outcome != cluster.Finished {
			t.Errorf("%+v", c)
		}
	})
}

// A context that has ended already is a shutdown like any other.
func TestStoppedBeforeItRan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := prepare(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := b.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}
