package datastore_test

import (
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// lastMessages lets every worker report and makes sure that what schedulers placed is known: by a flush
// from each of them, or because all of it has reached its worker.
func (w *world) lastMessages() {
	w.comeBack()
	delivered := rapid.Bool().Draw(w.t, "everything delivered")
	if delivered {
		for _, s := range w.schedulers {
			for _, n := range w.workers {
				w.deliver(s, n, 1<<20, false)
			}
		}
	}
	flushed := !delivered || rapid.Bool().Draw(w.t, "everything flushed")
	if flushed && rapid.Bool().Draw(w.t, "flush first") {
		w.flushAll()
	}
	for _, n := range w.workers {
		r := n.state.Report(w.now)
		w.report(&r)
	}
	if flushed {
		w.flushAll()
	}
	w.stragglers()
	w.pushAll()
}

func (w *world) flushAll() {
	for _, s := range w.schedulers {
		s.state.Resync()
		for _, d := range s.state.Settle(w.now).Flush {
			w.flush(d)
		}
	}
}

// stragglers are old messages that arrive, or arrive again, after newer ones: they must change nothing.
func (w *world) stragglers() {
	for range min(len(w.deltas), 5) {
		w.flush(&w.deltas[rapid.IntRange(0, len(w.deltas)-1).Draw(w.t, "late delta")])
	}
	for range min(len(w.reports), 5) {
		w.report(&w.reports[rapid.IntRange(0, len(w.reports)-1).Draw(w.t, "late report")])
	}
}

// checkTruth compares the aggregate, and every scheduler's view, with the truth recomputed from
// scratch: the sum over the tasks that the worker holds and that have not ended, and over those that are
// on their way to it.
func (w *world) checkTruth() {
	status := w.store.Status(w.now)
	for _, n := range w.workers {
		var truth cluster.Load
		for _, task := range n.state.Tasks(cluster.TaskQuery{Max: 1 << 20}) {
			if task.Phase != cluster.Ended {
				truth = truth.Add(cluster.LoadOf(w.shapes[task.ID]))
			}
		}
		for _, s := range w.schedulers {
			for _, d := range s.streams[n.node.Name] {
				if d.Assignment.TaskID != "" && d.Assignment.Number > w.arrived[s.ref.Name+n.node.Name] {
					truth = truth.Add(cluster.LoadOf(d.Assignment.Shape))
				}
			}
		}
		for _, entry := range status.Nodes {
			if entry.Node.Name == n.node.Name && entry.Load != truth {
				w.t.Fatalf("aggregate of %s is %+v, the truth is %+v", n.node.Name, entry.Load, truth)
			}
		}
		for _, s := range w.schedulers {
			for _, status := range s.state.Status(w.now).Nodes {
				if status.Node.Name == n.node.Name && status.Load != truth {
					w.t.Fatalf("view of %s at %s is %+v, the truth is %+v", n.node.Name, s.ref.Name, status.Load, truth)
				}
			}
		}
	}
}

// For any interleaving, loss and repetition of messages, and after any crash of the data service, the
// aggregate equals the truth recomputed from the full history once the last messages have arrived; and
// when every task has ended it is exactly zero, at the data service and in every scheduler's view.
func TestAccountsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, rapid.IntRange(1, 3).Draw(t, "schedulers"), rapid.IntRange(1, 4).Draw(t, "workers"),
			rapid.Bool().Draw(t, "self-correction"), rapid.Bool().Draw(t, "riders"))
		pick := func() (*replica, *node) {
			return rapid.SampledFrom(w.schedulers).Draw(t, "s"), rapid.SampledFrom(w.workers).Draw(t, "w")
		}
		t.Repeat(map[string]func(*rapid.T){
			"submit": func(*rapid.T) { w.submit() },
			"deliver": func(t *rapid.T) {
				s, n := pick()
				w.deliver(s, n, rapid.IntRange(1, 4).Draw(t, "batch"), rapid.Bool().Draw(t, "lose ack"))
			},
			"finish": func(t *rapid.T) {
				if _, n := pick(); len(n.running) > 0 {
					w.finish(n, rapid.IntRange(0, len(n.running)-1).Draw(t, "which"))
				}
			},
			"notify": func(t *rapid.T) {
				s, n := pick()
				w.notify(s, n, rapid.Bool().Draw(t, "lose ack"))
			},
			"old delta": func(t *rapid.T) {
				if len(w.deltas) > 0 {
					w.flush(&w.deltas[rapid.IntRange(0, len(w.deltas)-1).Draw(t, "which")])
				}
			},
			"old report": func(t *rapid.T) {
				if len(w.reports) > 0 {
					w.report(&w.reports[rapid.IntRange(0, len(w.reports)-1).Draw(t, "which")])
				}
			},
			"push": func(t *rapid.T) {
				if len(w.pushes) > 0 {
					w.push(rapid.IntRange(0, len(w.pushes)-1).Draw(t, "which"), rapid.Bool().Draw(t, "arrives"), rapid.Bool().Draw(t, "answered"))
				}
			},
			"vanish": func(t *rapid.T) {
				if _, n := pick(); rapid.IntRange(0, 4).Draw(t, "dice") == 0 {
					w.vanish(n)
				}
			},
			"crash": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "dice") == 0 {
					w.restartStore()
				}
			},
			"check": func(t *rapid.T) {
				w.lastMessages()
				w.checkTruth()
			},
		})
		w.drain()
		w.lastMessages()
		w.checkTruth()
		for _, node := range w.store.Status(w.now).Nodes {
			if !node.Load.IsZero() {
				t.Fatalf("%s is idle, its aggregate is %+v", node.Node.Name, node.Load)
			}
		}
	})
}

// drain delivers and ends every task.
func (w *world) drain() {
	w.comeBack()
	for _, n := range w.workers {
		for _, s := range w.schedulers {
			w.deliver(s, n, 1<<20, false)
		}
		for len(n.running) > 0 {
			w.finish(n, 0)
		}
	}
}
