package datastore_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// world is a whole cluster of the production state machines with a hostile network between them:
// streams keep their order (one connection each), everything else is lost, repeated and overtaken.
type world struct {
	t          *rapid.T
	now        time.Duration
	store      *datastore.Store
	crashes    int64
	schedulers []*replica
	workers    []*node
	deltas     []cluster.Delta  // sent at some time; may arrive now, later, twice or never
	reports    []cluster.Report // likewise
	shapes     map[string]cluster.Shape
	arrived    map[string]int64 // by scheduler and worker: the last number that reached the worker
}

type replica struct {
	ref     cluster.SchedulerRef
	state   *scheduler.Replica
	streams map[string][]scheduler.Dispatch // by worker, not delivered yet
}

type node struct {
	node    cluster.Node
	state   *worker.Node
	running []string
}

func newWorld(t *rapid.T, schedulers, workers int, correct, riders bool) *world {
	w := &world{t: t, shapes: map[string]cluster.Shape{}, arrived: map[string]int64{}}
	for i := range workers {
		n := cluster.Node{Name: fmt.Sprint("w", i), Address: fmt.Sprint("w", i, ":1"), Class: "any", Slots: 3, Incarnation: int64(100 + i),
			Capacity: cluster.Resources{4000, 4096}}
		state, err := worker.New(worker.Config{Node: n, Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated", Executor: "sleep"}},
			Executors: []worker.Executor{{Name: "sleep", Emulates: true}}, Limits: worker.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		w.workers = append(w.workers, &node{node: n, state: state})
	}
	for i := range schedulers {
		policy, err := scheduler.NewDodoor(scheduler.DodoorConfig{Alpha: 0.5, Beta: 1})
		if err != nil {
			t.Fatal(err)
		}
		ref := cluster.SchedulerRef{Name: fmt.Sprint("s", i), Address: "x:1", Incarnation: int64(10 + i), Riders: riders}
		state, err := scheduler.New(scheduler.Config{Name: ref.Name, Incarnation: ref.Incarnation, Seed: 1, DeltaBatch: 3, MaxAttempts: 5, SelfCorrection: correct, Riders: riders,
			ReplaceTimeout: time.Hour, MaxPending: 1 << 20, RetainResults: 1 << 20, RetainFor: time.Hour, Dimensions: cluster.Standard(),
			Types: []cluster.TaskType{{Name: "simulated"}}}, policy)
		if err != nil {
			t.Fatal(err)
		}
		w.schedulers = append(w.schedulers, &replica{ref, state, map[string][]scheduler.Dispatch{}})
	}
	w.restartStore()
	for _, s := range w.schedulers {
		for _, n := range w.workers {
			w.attach(s, n)
		}
	}
	return w
}

// restartStore is a crash of the data service: it forgets everything, and everybody registers again.
func (w *world) restartStore() {
	w.crashes++
	store, err := datastore.New(datastore.Config{Incarnation: w.crashes, Batch: 5, NodeTimeout: time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
	for _, n := range w.workers {
		if err := w.store.RegisterNode(w.now, n.node); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, s := range w.schedulers {
		snapshot, err := w.store.RegisterScheduler(s.ref)
		if err != nil {
			w.t.Fatal(err)
		}
		w.push(s, snapshot)
	}
}

func (w *world) push(s *replica, snapshot cluster.Snapshot) {
	ready, err := s.state.Push(w.now, &snapshot)
	if err != nil {
		w.t.Fatalf("push to %s: %v", s.ref.Name, err)
	}
	w.carryOut(s, ready)
	w.store.Acknowledged(s.ref.Name, &snapshot)
}

func (w *world) attach(s *replica, n *node) {
	if _, err := n.state.Attach(w.now, s.ref); err != nil {
		w.t.Fatal(err)
	}
}

// carryOut also keeps the streams: a node that left has none, and one that appears opens it with the
// handshake.
func (w *world) carryOut(s *replica, ready *scheduler.Ready) {
	opened := append([]int(nil), ready.Connect...)
	if len(ready.Drop) > 0 {
		for name := range s.streams {
			if !w.knows(s, name) {
				delete(s.streams, name)
			}
		}
	}
	for _, d := range ready.Send {
		name := s.state.Node(d.Node).Name
		s.streams[name] = append(s.streams[name], d)
	}
	for _, d := range ready.Flush {
		w.deltas = append(w.deltas, *d)
	}
	for _, index := range opened {
		w.reattach(s, s.state.Node(index).Name)
	}
}

func (w *world) knows(s *replica, name string) bool {
	for _, n := range s.state.Status(w.now).Nodes {
		if n.Node.Name == name {
			return true
		}
	}
	return false
}

// reattach is the handshake of a stream.
func (w *world) reattach(s *replica, name string) {
	for i, n := range w.workers {
		if n.node.Name != name {
			continue
		}
		reply, err := n.state.Attach(w.now, s.ref)
		if err != nil {
			w.t.Fatal(err)
		}
		for index, status := range s.state.Status(w.now).Nodes {
			if status.Node.Name == w.workers[i].node.Name {
				w.carryOut(s, s.state.Attached(w.now, index, name, &reply))
				return
			}
		}
	}
}

// vanish takes a worker out of the roster for a while; its process runs on.
func (w *world) vanish(n *node) {
	w.store.UnregisterNode(n.node.Name, n.node.Incarnation)
	w.pushAll()
}

// comeBack registers whoever vanished.
func (w *world) comeBack() {
	for _, n := range w.workers {
		if err := w.store.RegisterNode(w.now, n.node); err != nil {
			w.t.Fatal(err)
		}
	}
	w.pushAll()
	for _, s := range w.schedulers {
		for _, n := range w.workers {
			for _, d := range s.streams[n.node.Name] {
				if d.Assignment.TaskID == "" {
					w.deliver(s, n, 1<<20, false) // what was given up is closed
					break
				}
			}
		}
	}
}

// step carries out what a worker wants done. Executions are only noted; the test ends them.
func (w *world) step(n *node, s worker.Step) {
	for _, start := range s.Start {
		n.running = append(n.running, start.TaskID)
	}
	if s.Report {
		w.reports = append(w.reports, n.state.Report(w.now))
	}
}

// submit sends one task to some scheduler.
func (w *world) submit() {
	s := rapid.SampledFrom(w.schedulers).Draw(w.t, "scheduler")
	shape := cluster.Shape{Duration: int64(rapid.IntRange(0, 5000).Draw(w.t, "duration")), Demand: cluster.Resources{
		int64(rapid.IntRange(1, 4).Draw(w.t, "cores")) * 1000, int64(rapid.IntRange(0, 4096).Draw(w.t, "memory"))}}
	id := fmt.Sprint("t", len(w.shapes))
	w.shapes[id] = shape
	if s.state.Admit(1) != nil {
		return // every worker is away
	}
	ready, refusal := s.state.Submit(w.now, "c", &cluster.TaskSpec{ID: id, Type: "simulated", Demand: &shape.Demand, Duration: &shape.Duration, TimeScale: 1})
	if refusal != nil {
		w.t.Fatal(refusal)
	}
	w.carryOut(s, ready)
}

// deliver sends the head of a stream. When the acknowledgement is lost the batch is sent again.
func (w *world) deliver(s *replica, n *node, count int, loseAck bool) {
	waiting := s.streams[n.node.Name]
	batch := waiting[:min(count, len(waiting))]
	if len(batch) == 0 {
		return
	}
	last := batch[len(batch)-1]
	message := cluster.Enqueue{Scheduler: s.ref, NodeIncarnation: n.node.Incarnation, Number: last.Assignment.Number, Placed: last.Placed}
	for _, d := range batch {
		if d.Assignment.TaskID != "" {
			message.Assignments = append(message.Assignments, d.Assignment)
		}
	}
	reply, step, err := n.state.Enqueue(w.now, &message)
	if err != nil {
		w.t.Fatal(err)
	}
	w.step(n, step)
	pair := s.ref.Name + n.node.Name
	w.arrived[pair] = max(w.arrived[pair], message.Number)
	if loseAck {
		return
	}
	s.streams[n.node.Name] = waiting[len(batch):]
	w.carryOut(s, s.state.Acknowledged(w.now, batch, &reply))
}

// finish ends one execution.
func (w *world) finish(n *node, i int) {
	id := n.running[i]
	n.running = append(n.running[:i], n.running[i+1:]...)
	w.step(n, n.state.Finished(w.now, id, worker.Result{Outcome: cluster.Finished}))
}

// notify carries a worker's completions to a scheduler; a lost answer makes it repeat them.
func (w *world) notify(s *replica, n *node, loseAck bool) {
	notice, waiting := n.state.Notice(w.now, s.ref.Name, 1000)
	if !waiting {
		return
	}
	ready, err := s.state.Completed(w.now, &notice.Message)
	if err != nil {
		w.t.Fatal(err)
	}
	w.carryOut(s, ready)
	if !loseAck {
		n.state.Acknowledged(&notice)
	}
}

// flush lets some delta of the past arrive, perhaps again, perhaps after newer ones.
func (w *world) flush(d *cluster.Delta) {
	step, err := w.store.Flush(d)
	if err != nil {
		w.t.Fatal(err)
	}
	if step.Push {
		w.pushAll()
	}
}

func (w *world) pushAll() {
	for _, s := range w.schedulers {
		snapshot, _ := w.store.SnapshotFor(s.ref.Name, s.ref.Incarnation)
		w.push(s, snapshot)
	}
}

func (w *world) report(r *cluster.Report) {
	if err := w.store.Report(w.now, r); err != nil && cluster.CodeOf(err) != cluster.UnknownNode {
		w.t.Fatal(err)
	}
}

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
		w := newWorld(t, rapid.IntRange(1, 3).Draw(t, "schedulers"), rapid.IntRange(1, 4).Draw(t, "workers"), rapid.Bool().Draw(t, "self-correction"), rapid.Bool().Draw(t, "riders"))
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
