package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// A replica that keeps what it must, real workers, and a disk that has what was made durable in time. Whatever crashes when, and
// whatever happens to messages: what was accepted ends exactly once for its client, what must not run twice starts once at most,
// no number is given twice, and in the end nothing is kept for nothing.
func TestNothingIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newSurvivors(t)
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			w.now += rapid.SampledFrom([]time.Duration{0, time.Millisecond, 300 * time.Millisecond, 4 * time.Second}).Draw(t, "later")
			w.step()
		}
		w.settle()
	})
}

// survivors are a replica, two workers, a disk and a client. Every clock is w.now, less when its process began.
type survivors struct {
	*rapid.T
	now     time.Duration
	disk    disk
	groups  []group // handed out, not durable yet
	workers []*machine
	version int64

	r           *Replica
	incarnation int64
	began       time.Duration
	of          *Deliveries
	streams     map[int]*Delivery
	late        []letter // enqueues that are still on their way

	tasks      int
	once       map[string]bool // must not run twice
	asked      map[string]bool // somebody submitted it
	accepted   map[string]bool // and heard that it was accepted
	unwanted   map[string]bool // somebody cancelled it
	cancelled  map[string]bool // and heard that it is to end
	cancels    []CancelCall    // on their way
	collected  map[string]cluster.Outcome
	cursor     int64
	collecting bool
	numbers    map[string]string // what a placement's number was given for
	starts     map[string]int
}

type group struct {
	changes []Change
	upTo    int64
	told    []func() // what may be said when it is durable
}

// letter is a message that arrives when its sender has given it up.
type letter struct {
	to      *machine
	enqueue cluster.Enqueue
}

// machine is a worker: its process, and what runs there.
type machine struct {
	node    *worker.Node
	as      cluster.Node
	running []string
}

func newSurvivors(t *rapid.T) *survivors {
	w := &survivors{T: t, disk: disk{}, once: map[string]bool{}, asked: map[string]bool{}, accepted: map[string]bool{},
		unwanted: map[string]bool{}, cancelled: map[string]bool{},
		collected: map[string]cluster.Outcome{}, numbers: map[string]string{}, starts: map[string]int{}}
	for _, name := range []string{"a", "b"} {
		m := &machine{as: nodeOf(name, 3, 1000)}
		m.as.Slots = 2
		w.workers = append(w.workers, m)
		w.boot(m)
	}
	w.start()
	w.push()
	return w
}

// boot starts a new process of a worker.
func (w *survivors) boot(m *machine) {
	m.as.Incarnation++
	limits := worker.DefaultLimits()
	limits.RetainFor = time.Minute
	node, err := worker.New(worker.Config{Node: m.as, Dimensions: cluster.Standard(), Types: []cluster.TaskType{{Name: "simulated",
		Executor: "sleep"}}, Executors: []worker.Executor{{Name: "sleep", Emulates: true}}, Limits: limits})
	if err != nil {
		w.Fatal(err)
	}
	m.node, m.running = node, nil
}

// start starts the next process of the replica from what is on the disk.
func (w *survivors) start() {
	w.incarnation++
	w.began, w.streams, w.groups, w.version, w.collecting = w.now, map[int]*Delivery{}, nil, 0, false
	w.cancels = nil
	cfg := keeping(testConfig(), w.incarnation, w.began)
	cfg.ReplaceTimeout, cfg.MaxAttempts = 1000*time.Hour, 1000
	policy, err := PaperPolicy.Build(nil, 1)
	if err != nil {
		w.Fatal(err)
	}
	if w.r, err = Restore(cfg, policy, w.disk.each); err != nil {
		w.Fatal(err)
	}
	w.r.results.newest = rapid.IntRange(1, 2).Draw(w.T, "newest")
	w.sync()
	w.of = &Deliveries{Replica: w.r, Scheduler: cluster.SchedulerRef{Name: cfg.Name, Address: "s1:1", Incarnation: w.incarnation,
		Resumes: true}, MaxBatch: rapid.IntRange(1, 3).Draw(w.T, "batch"), Grace: time.Second}
	w.check()
	w.perform(w.r.Tick(w.clock()))
}

// clock is the replica's.
func (w *survivors) clock() time.Duration { return w.now - w.began }

// crash ends the replica: of what was handed out the first groups are on the disk.
func (w *survivors) crash() {
	w.handOut(nil)
	for _, g := range w.groups[:rapid.IntRange(0, len(w.groups)).Draw(w.T, "durable groups")] {
		w.disk.apply(g.changes)
	}
	w.start()
}

// handOut takes a group of changes; told is said when it is durable.
func (w *survivors) handOut(told func()) {
	changes, upTo := w.r.Changes(nil)
	for i := range changes {
		changes[i].Value = slices.Clone(changes[i].Value)
	}
	g := group{changes: changes, upTo: upTo}
	if told != nil {
		g.told = append(g.told, told)
	}
	w.groups = append(w.groups, g)
}

// sync makes everything durable.
func (w *survivors) sync() {
	w.handOut(nil)
	for _, g := range w.groups {
		w.disk.apply(g.changes)
		w.r.Synced(g.upTo)
		for _, tell := range g.told {
			tell()
		}
	}
	w.groups = nil
	w.stop()
}

// check compares a replica that has just started with what its client knows.
func (w *survivors) check() {
	known := func(id string) bool { return w.r.tasks[id] != nil || w.r.results.byID[id] != nil }
	for id := range w.accepted {
		if _, collected := w.collected[id]; !known(id) && !collected {
			w.Fatalf("task %s was accepted, and is forgotten", id)
		}
	}
	for id := range w.r.tasks {
		if _, collected := w.collected[id]; !w.asked[id] || collected {
			w.Fatalf("task %s is open, and should not be", id)
		}
	}
	if problem := w.disk.differs(w.r); problem != "" {
		w.Fatal(problem)
	}
}

func (w *survivors) step() {
	switch rapid.SampledFrom([]string{"submit", "submit", "move", "move", "move", "move", "end", "end", "notify", "notify", "sync", "sync",
		"hand out", "collect", "tick", "push", "cancel", "crash", "boot", "late", "expire"}).Draw(w.T, "step") {
	case "submit":
		w.submit()
	case "move":
		w.move(rapid.IntRange(0, len(w.workers)-1).Draw(w.T, "stream"), rapid.SampledFrom([]string{"", "", "", "unsent", "lost", "unanswered",
			"late", "refused"}).Draw(w.T, "fate"))
	case "end":
		w.end(rapid.SampledFrom(w.workers).Draw(w.T, "worker"))
	case "notify":
		w.notify(rapid.SampledFrom(w.workers).Draw(w.T, "worker"), rapid.Bool().Draw(w.T, "answered"))
	case "sync":
		w.sync()
	case "hand out":
		w.handOut(nil)
	case "collect":
		w.collect()
	case "tick":
		w.perform(w.r.Tick(w.clock()))
	case "push":
		w.push()
	case "cancel":
		id := fmt.Sprint("t", rapid.IntRange(0, w.tasks).Draw(w.T, "task"))
		w.unwanted[id] = true
		actions, found := w.r.Cancel(w.clock(), id)
		if w.perform(actions); found {
			w.handOut(func() { w.cancelled[id] = true })
		}
	case "crash":
		w.crash()
	case "boot":
		w.boot(rapid.SampledFrom(w.workers).Draw(w.T, "worker"))
	case "late":
		w.arrive()
	case "expire":
		for _, m := range w.workers {
			m.node.Expire(w.now)
		}
	}
}

func (w *survivors) submit() {
	id := fmt.Sprint("t", w.tasks)
	w.tasks++
	spec := request(id, 1, 1, 1000)
	spec.AtMostOnce = rapid.Bool().Draw(w.T, "once")
	w.once[id], w.asked[id] = spec.AtMostOnce, true
	actions, refusal := w.r.Submit(w.clock(), "client", spec)
	if refusal == nil {
		w.perform(actions)
		w.handOut(func() { w.accepted[id] = true })
	}
}

func (w *survivors) push() {
	w.version++
	var nodes []cluster.Node
	for _, m := range w.workers {
		nodes = append(nodes, m.as)
	}
	s := snapshotOf(w.version, nodes, make([]cluster.Load, len(nodes)))
	s.ReceiverIncarnation = w.incarnation
	actions, err := w.r.Push(w.clock(), s)
	if err != nil {
		w.Fatal(err)
	}
	w.perform(actions)
}
