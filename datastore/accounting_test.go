package datastore_test

import (
	"fmt"
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
	pushes     []datastore.Push // under way
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

// freshest is a policy that wants riders.
type freshest struct{ scheduler.Policy }

func (freshest) Wants() scheduler.Wants { return scheduler.Wants{Loads: scheduler.Fresh} }

func newWorld(t *rapid.T, schedulers, workers int, correct, riders bool) *world {
	w := &world{t: t, shapes: map[string]cluster.Shape{}, arrived: map[string]int64{}}
	for i := range workers {
		n := cluster.Node{Name: fmt.Sprint("w", i), Address: fmt.Sprint("w", i, ":1"), Class: "any", Slots: 3, Incarnation: int64(100 + i),
			Capacity: cluster.Resources{4000, 4096}}
		state, err := worker.New(worker.Config{Node: n, Dimensions: cluster.Standard(),
			Types:     []cluster.TaskType{{Name: "simulated", Executor: "sleep"}},
			Executors: []worker.Executor{{Name: "sleep", Emulates: true}}, Limits: worker.DefaultLimits()})
		if err != nil {
			t.Fatal(err)
		}
		w.workers = append(w.workers, &node{node: n, state: state})
	}
	for i := range schedulers {
		policy, err := scheduler.PaperPolicy.Build(nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if riders {
			policy = freshest{policy}
		}
		ref := cluster.SchedulerRef{Name: fmt.Sprint("s", i), Address: "x:1", Incarnation: int64(10 + i), Riders: riders}
		state, err := scheduler.New(scheduler.Config{Name: ref.Name, Incarnation: ref.Incarnation, Seed: 1, DeltaBatch: 3, MaxAttempts: 5,
			SelfCorrection: correct,
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
	w.store, w.pushes = store, nil
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
		w.take(s, &snapshot)
	}
}

// take is a scheduler's side of a push; without what the snapshot builds on it says so.
func (w *world) take(s *replica, snapshot *cluster.Snapshot) cluster.ErrorCode {
	actions, err := s.state.Push(w.now, snapshot)
	if err != nil && cluster.CodeOf(err) != cluster.Gap {
		w.t.Fatalf("push to %s: %v", s.ref.Name, err)
	}
	w.perform(s, actions)
	return cluster.CodeOf(err)
}

// push lets a push that is under way arrive; it or its answer may be lost.
func (w *world) push(i int, arrives, answered bool) {
	p := w.pushes[i]
	w.pushes = append(w.pushes[:i], w.pushes[i+1:]...)
	var snapshot cluster.Snapshot
	if !w.store.Fill(&snapshot, p) {
		return
	}
	var code cluster.ErrorCode
	for _, s := range w.schedulers {
		if arrives && s.ref == p.To {
			code = w.take(s, &snapshot)
		}
	}
	if arrives && answered {
		w.pushes = append(w.pushes, w.store.Answered(w.now, p, code).Push...)
	} else {
		w.pushes = append(w.pushes, w.store.Failed(w.now, p, false).Push...)
	}
}

func (w *world) attach(s *replica, n *node) {
	if _, _, err := n.state.Attach(w.now, s.ref); err != nil {
		w.t.Fatal(err)
	}
}

// perform also keeps the streams: a node that left has none, and one that appears opens it with the
// handshake.
func (w *world) perform(s *replica, actions *scheduler.Actions) {
	opened := append([]int(nil), actions.Connect...)
	if len(actions.Drop) > 0 {
		for name := range s.streams {
			if !w.knows(s, name) {
				delete(s.streams, name)
			}
		}
	}
	for _, d := range actions.Send {
		name := s.state.Node(d.Node).Name
		s.streams[name] = append(s.streams[name], d)
	}
	for _, d := range actions.Flush {
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
		reply, _, err := n.state.Attach(w.now, s.ref)
		if err != nil {
			w.t.Fatal(err)
		}
		for index, status := range s.state.Status(w.now).Nodes {
			if status.Node.Name == w.workers[i].node.Name {
				w.perform(s, s.state.Attached(w.now, index, name, &reply))
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

// step performs what a worker wants done. Executions are only noted; the test ends them.
func (w *world) step(n *node, s worker.Actions) {
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
	if s.state.Admit("", "c", 1) != nil {
		return // every worker is away
	}
	actions, refusal := s.state.Submit(w.now, "c", &cluster.TaskSpec{ID: id, Type: "simulated", Demand: &shape.Demand,
		Duration: &shape.Duration, TimeScale: 1})
	if refusal != nil {
		w.t.Fatal(refusal)
	}
	w.perform(s, actions)
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
	reply, actions, err := n.state.Enqueue(w.now, &message)
	if err != nil {
		w.t.Fatal(err)
	}
	w.step(n, actions)
	pair := s.ref.Name + n.node.Name
	w.arrived[pair] = max(w.arrived[pair], message.Number)
	if loseAck {
		return
	}
	s.streams[n.node.Name] = waiting[len(batch):]
	w.perform(s, s.state.Acknowledged(w.now, batch, &reply))
}

// finish ends one execution.
func (w *world) finish(n *node, i int) {
	id := n.running[i]
	n.running = append(n.running[:i], n.running[i+1:]...)
	w.step(n, n.state.Finished(w.now, id, worker.Result{Outcome: cluster.Finished}))
}
