package datastore_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/datastore"
	"dodoor/internal/cluster"
)

// receiver is a scheduler as an oracle sees it: a table of what it was told, and a plain list of what it was
// promised.
type receiver struct {
	ref      cluster.SchedulerRef
	here     bool
	version  int64 // of the table; 0: it has none
	table    map[int32]int64
	promised []int64 // numbers of the pushes that it is still to get, the first under way
	push     datastore.Push
	snapshot cluster.Snapshot // under way
	forgot   bool             // what it took
	gaps     int              // it said about the push under way
	failed   []time.Duration  // since its last success
}

// take is a scheduler's rule: a snapshot that builds on what it lacks is a gap.
func (r *receiver) take() cluster.ErrorCode {
	if r.snapshot.BaseVersion > r.version {
		return cluster.Gap
	}
	if r.snapshot.Roster != nil {
		r.table = map[int32]int64{}
	}
	for i, position := range r.snapshot.Node {
		r.table[position] = r.snapshot.Load[i].Tasks
	}
	r.version, r.forgot = r.snapshot.Version, false
	return 0
}

// pushing compares a store with receivers: who is to get what, and what they know in the end.
type pushing struct {
	t         *rapid.T
	s         *datastore.Store
	now       time.Duration
	receivers []*receiver
	placed    [3]int64         // by the source, on every worker
	orphans   []datastore.Push // under way to registrations that are over
	asked     int64
	skipped   int64
}

const patience = 10 * time.Second

// asks is what everybody is to get after a push to all.
func (w *pushing) asks(actions datastore.Actions) {
	w.asked++
	var due []*receiver
	for _, r := range w.receivers {
		switch {
		case !r.here:
		case len(r.promised) == 5:
			w.skipped++
		default:
			if r.promised = append(r.promised, w.asked); len(r.promised) == 1 {
				due = append(due, r)
			}
		}
	}
	w.expect(actions, due...)
}

// expect fails unless the actions push to exactly these, who get their snapshots under way.
func (w *pushing) expect(actions datastore.Actions, due ...*receiver) {
	if len(actions.Push) != len(due) {
		w.t.Fatalf("%d pushes, want %d", len(actions.Push), len(due))
	}
	for _, p := range actions.Push {
		for _, r := range due {
			if r.ref == p.To {
				r.push, r.snapshot = p, cluster.Snapshot{}
				if !w.s.Fill(&r.snapshot, p) {
					w.t.Fatalf("%s has left", p.To.Name)
				}
			}
		}
	}
	if got := w.s.Skipped(); got != w.skipped {
		w.t.Fatalf("%d pushes skipped, want %d", got, w.skipped)
	}
}

// answer ends the push under way to a receiver.
func (w *pushing) answer(r *receiver, how string) {
	var code cluster.ErrorCode
	if how == "taken" || how == "no answer" {
		if code = r.take(); code == cluster.Gap && !r.forgot {
			w.t.Fatalf("%s lacks what %+v builds on", r.ref.Name, r.snapshot)
		}
	}
	var actions datastore.Actions
	switch how {
	case "taken":
		actions = w.s.Answered(w.now, r.push, code)
	case "overloaded":
		code = cluster.Overloaded
		actions = w.s.Answered(w.now, r.push, code)
	default:
		actions = w.s.Failed(w.now, r.push, how == "refused")
	}
	if how == "taken" && code == cluster.Gap && r.gaps == 0 {
		r.gaps++
		if w.expect(actions, r); r.snapshot.BaseVersion != 0 || r.snapshot.Roster == nil {
			w.t.Fatalf("%+v after a gap, want everything", r.snapshot)
		}
		return
	}
	if how == "taken" && code == 0 {
		r.failed = nil
	} else {
		r.failed = append(r.failed, w.now)
	}
	r.promised, r.gaps = r.promised[1:], 0
	gone := how == "refused" || len(r.failed) > 0 && w.now-r.failed[0] >= patience
	if actions.Gone != gone || actions.Failing != (len(r.failed) == 1) {
		w.t.Fatalf("%s at %v after failures at %v: %+v", how, w.now, r.failed, actions)
	}
	switch {
	case gone:
		r.here, r.promised = false, nil
		w.expect(actions)
	case len(r.promised) > 0:
		w.expect(actions, r)
	default:
		w.expect(actions)
	}
}

// leave ends a registration, whatever is under way to it.
func (w *pushing) leave(r *receiver) {
	if len(r.promised) > 0 {
		w.orphans = append(w.orphans, r.push)
	}
	r.here, r.promised = false, nil
}

// register introduces a receiver, as the same process again or as a new one that knows nothing.
func (w *pushing) register(r *receiver, restarted bool) {
	if restarted {
		r.ref.Incarnation++
	}
	snapshot, err := w.s.RegisterScheduler(r.ref)
	if err != nil {
		w.t.Fatal(err)
	}
	w.leave(r)
	*r = receiver{ref: r.ref, here: true, snapshot: snapshot}
	if code := r.take(); code != 0 {
		w.t.Fatalf("the snapshot of a registration: %v", code)
	}
}

// For any order of pushes, answers, losses, registrations and farewells: one push per scheduler is under way, four
// wait, the others are counted as skipped, who fails for the node timeout is gone; and once its pushes are
// answered, every scheduler knows exactly what the data service knows.
func TestPushesAgainstAnOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := datastore.New(datastore.Config{Incarnation: 1, Batch: 3, NodeTimeout: patience})
		if err != nil {
			t.Fatal(err)
		}
		w := &pushing{t: t, s: s}
		for i := range w.placed {
			if err := s.RegisterNode(0, workerNode(fmt.Sprint("w", i), "x:1", 1)); err != nil {
				t.Fatal(err)
			}
		}
		for i := range rapid.IntRange(1, 3).Draw(t, "schedulers") {
			w.receivers = append(w.receivers, &receiver{ref: cluster.SchedulerRef{Name: fmt.Sprint("s", i), Address: "x:1", Incarnation: 1}})
		}
		if _, err := s.RegisterScheduler(cluster.SchedulerRef{Name: "source", Incarnation: 1}); err != nil {
			t.Fatal(err)
		}
		source := &receiver{ref: cluster.SchedulerRef{Name: "source", Incarnation: 1}, here: true}
		w.receivers = append(w.receivers, source)
		pick := func() *receiver { return rapid.SampledFrom(w.receivers).Draw(t, "scheduler") }
		place := func(n int64) {
			i := rapid.IntRange(0, len(w.placed)-1).Draw(t, "worker")
			before := w.decisions() / 3
			w.placed[i] += n
			actions, err := s.Flush(w.now, delta("source", 1, w.decisions(), cluster.Placed{Node: fmt.Sprint("w", i), NodeIncarnation: 1,
				Number: w.placed[i], Placed: cluster.Load{Tasks: w.placed[i]}}))
			switch {
			case err != nil:
				t.Fatal(err)
			case w.decisions()/3 > before:
				w.asks(actions)
			default:
				w.expect(actions)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"place":  func(t *rapid.T) { place(rapid.Int64Range(1, 4).Draw(t, "tasks")) },
			"settle": func(*rapid.T) { actions, _ := s.Settle(w.now); w.asks(actions) },
			"time":   func(t *rapid.T) { w.now += time.Duration(rapid.IntRange(0, 6).Draw(t, "seconds")) * time.Second },
			"answers": func(t *rapid.T) {
				for _, r := range w.receivers {
					how := rapid.SampledFrom([]string{"", "taken", "taken", "taken", "overloaded", "no answer", "refused"}).Draw(t, "how")
					if r.here && len(r.promised) > 0 && how != "" && (r != source || how == "taken") {
						w.answer(r, how)
					}
				}
			},
			"register": func(t *rapid.T) {
				if r := pick(); r != source {
					w.register(r, rapid.Bool().Draw(t, "restarted"))
				}
			},
			"leave": func(*rapid.T) {
				if r := pick(); r != source {
					if left := s.UnregisterScheduler(r.ref.Name, r.ref.Incarnation); left != r.here {
						t.Fatalf("%s left: %v, was here: %v", r.ref.Name, left, r.here)
					}
					w.leave(r)
				}
			},
			"late answer": func(t *rapid.T) {
				if len(w.orphans) > 0 {
					p := rapid.SampledFrom(w.orphans).Draw(t, "orphan")
					w.expect(s.Answered(w.now, p, rapid.SampledFrom([]cluster.ErrorCode{0, cluster.Gap, cluster.Stale}).Draw(t, "code")))
					w.expect(s.Failed(w.now, p, rapid.Bool().Draw(t, "refused")))
				}
			},
			"amnesia": func(*rapid.T) { r := pick(); r.version, r.forgot = 0, true },
			"check":   func(*rapid.T) { w.finish() },
		})
		w.finish()
	})
}

func (w *pushing) decisions() int64 { return w.placed[0] + w.placed[1] + w.placed[2] }

// finish settles the cluster: everybody answers, and knows everything.
func (w *pushing) finish() {
	actions, asked := w.s.Settle(w.now)
	w.asks(actions)
	for _, r := range w.receivers {
		for r.here && len(r.promised) > 0 {
			if w.s.Settled(asked) {
				w.t.Fatalf("settled, and %s is to get %d pushes", r.ref.Name, len(r.promised))
			}
			w.answer(r, "taken")
		}
	}
	if !w.s.Settled(asked) {
		w.t.Fatal("everybody has answered, and it is not settled")
	}
	for _, r := range w.receivers {
		for i, tasks := range w.placed {
			if r.here && r.table[int32(i)] != tasks {
				w.t.Fatalf("%s believes that w%d holds %d tasks, not %d", r.ref.Name, i, r.table[int32(i)], tasks)
			}
		}
	}
}
