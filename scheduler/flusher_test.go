package scheduler

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// Whatever is lost, and whichever process of the data service answers: one delta is under way at a time, it
// stands for the oldest that wait, every posted one settles, and once everything gets through, the service
// knows the newest number of every worker. The replica registers again after a failure, and after an answer
// of a process that it has not registered with.
func TestFlusher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy, _ := PaperPolicy.Build(nil, 1)
		cfg := testConfig()
		cfg.DeltaBatch = rapid.IntRange(1, 3).Draw(t, "b_delta")
		r, err := New(cfg, policy)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []cluster.Node{nodeOf("a", 1<<20, 1<<20), nodeOf("b", 1<<20, 1<<20), nodeOf("c", 1<<20, 1<<20)}
		if _, err := r.Push(0, snapshotOf(1, nodes, make([]cluster.Load, len(nodes)))); err != nil {
			t.Fatal(err)
		}
		f := &Flusher{Replica: r, MaxBatch: rapid.IntRange(1, 4).Draw(t, "batch")}
		service, registered, synced, posted := int64(1), int64(0), int64(0), int64(0)
		known := map[string]int64{} // at the service
		var underWay *cluster.Delta
		flush := func() {
			delta := f.Next()
			if delta != nil && underWay != nil {
				t.Fatal("two deltas are under way")
			}
			if delta == nil && underWay == nil && f.Settled() < posted {
				t.Fatalf("%d of %d deltas settled, and none is under way", f.Settled(), posted)
			}
			if delta != nil {
				underWay = delta
			}
		}
		post := func(actions *Actions) {
			for _, delta := range actions.Flush {
				posted++
				f.Post(delta)
			}
			flush()
		}
		answer := func(answering int64, err error) {
			if err == nil {
				for _, p := range underWay.Placed {
					known[p.Node] = max(known[p.Node], p.Number)
				}
			}
			underWay = nil
			before := f.Settled()
			if lost, want := f.Answered(answering, err), err != nil || answering != registered; lost != want {
				t.Fatalf("to be registered again: %v, want %v", lost, want)
			}
			if n := f.Settled() - before; n < 1 || n > int64(f.MaxBatch) {
				t.Fatalf("%d deltas settled at once", n)
			}
			flush()
		}
		register := func(with int64) {
			f.Registered(with)
			if registered = with; with > synced {
				synced = with
				r.Resync() // as the snapshot makes it do that comes from a process that is new to it
			}
		}
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"submit", "submit", "answer", "fail", "stranger", "register", "lost"}).Draw(t, "step") {
			case "submit":
				actions, refusal := r.Submit(0, "client", request(fmt.Sprint("t", i), 1, 1, 1))
				if refusal != nil {
					t.Fatal(refusal)
				}
				post(actions)
			case "answer":
				if underWay != nil {
					answer(service, nil)
				}
			case "fail":
				if underWay != nil {
					answer(0, errors.New("no answer"))
				}
			case "stranger":
				if underWay != nil { // it takes the delta, but lacks all earlier ones
					service++
					clear(known)
					answer(service, nil)
				}
			case "register":
				register(service)
			case "lost":
				register(0)
			}
			if f.IsRegistered() != (registered != 0) {
				t.Fatalf("registered: %v, want with %d", f.IsRegistered(), registered)
			}
		}
		register(service)
		for post(r.Settle(0)); underWay != nil; post(r.Settle(0)) {
			answer(service, nil)
		}
		if f.Settled() != posted || f.Posted() != posted {
			t.Fatalf("%d of %d deltas settled, %d were posted", f.Settled(), f.Posted(), posted)
		}
		for i, n := range nodes {
			if want := r.nodes.slots[i].stream.number; known[n.Name] != want {
				t.Fatalf("the service knows %s@%d, want @%d", n.Name, known[n.Name], want)
			}
		}
	})
}
