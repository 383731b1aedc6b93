package scheduler

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// lossy is a replica's streams to workers that take the rules literally and forget nothing.
type lossy struct {
	*rapid.T
	r       *Replica
	of      *Deliveries
	ends    []*end
	now     time.Duration
	tasks   int
	version int64
}

// end is what the oracle knows of one worker: the process there, and the stream to it.
type end struct {
	Delivery
	*process
	another bool // another worker answers at the address

	move      Move // under way
	sent      cluster.Enqueue
	most      int        // placements in a message
	posted    []Dispatch // by number, from 1
	heal      bool       // a dispatch without a task was posted
	answered  int64      // placements up to this number were answered or given up
	givenUp   int64
	refused   map[int64]bool // by number: whole messages that the worker rejected, or that were too large
	may       int64          // highest number that may have arrived
	abandoned bool
	suspect   bool
	failures  int           // since something went well
	since     time.Duration // the first of them
	failed    time.Duration // the last of them
}

// process is a worker's.
type process struct {
	number int64 // of this incarnation
	known  bool  // the scheduler is
	last   int64 // placement that arrived
	runs   map[int64]string
	has    map[string]bool // templates, by digest
}

func newProcess(number int64) *process {
	return &process{number: number, runs: map[int64]string{}, has: map[string]bool{}}
}

func newLossy(t *rapid.T) *lossy {
	cfg := testConfig()
	cfg.MaxAttempts, cfg.ReplaceTimeout = 1<<30, 1<<60
	policy, err := PaperPolicy.Build(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(cfg, policy)
	if err != nil {
		t.Fatal(err)
	}
	w := &lossy{T: t, r: r, of: &Deliveries{Replica: r, MaxBatch: rapid.IntRange(1, 5).Draw(t, "batch"),
		Grace: rapid.SampledFrom([]time.Duration{0, 100, 2000}).Draw(t, "grace") * time.Millisecond}}
	for range 2 {
		w.ends = append(w.ends, &end{process: newProcess(1), refused: map[int64]bool{}})
	}
	w.push()
	return w
}

// push tells the replica which processes there are.
func (w *lossy) push() {
	w.version++
	nodes := []cluster.Node{nodeOf("a", 1<<20, 1<<20), nodeOf("b", 1<<20, 1<<20)}
	for i := range nodes {
		nodes[i].Incarnation = w.ends[i].number
	}
	actions, err := w.r.Push(w.now, snapshotOf(w.version, nodes, make([]cluster.Load, len(nodes))))
	if err != nil {
		w.Fatal(err)
	}
	w.perform(actions)
}

func (w *lossy) submit(n int) {
	for range n {
		spec := request(fmt.Sprint("t", w.tasks), 1, 1, 1)
		if program := rapid.SampledFrom([]string{"", "x", "x", "y"}).Draw(w.T, "program"); program != "" {
			t := programOf(program)
			spec.Command = &cluster.Command{Digest: t.Digest(), Template: t}
		}
		actions, refusal := w.r.Submit(w.now, "client", spec)
		if refusal == nil {
			w.tasks++
			w.perform(actions)
		}
	}
}

// perform does what both shells do.
func (w *lossy) perform(actions *Actions) {
	for _, i := range actions.Connect {
		*w.ends[i] = end{Delivery: w.of.Open(i), most: w.of.MaxBatch, refused: map[int64]bool{}, process: w.ends[i].process,
			another: w.ends[i].another}
	}
	for i := range actions.Send {
		d := &actions.Send[i]
		e := w.ends[d.Node]
		switch {
		case d.Assignment.TaskID == "":
			e.heal = true
		case d.Assignment.Number != int64(len(e.posted))+1:
			w.Fatalf("%s: number %d after %d", e.name, d.Assignment.Number, len(e.posted))
		default:
			e.posted = append(e.posted, *d)
		}
		e.Post(d)
	}
}

// disturb changes what is at a worker's address.
func (e *end) disturb(what string) {
	switch what {
	case "restarts":
		e.process = newProcess(e.number + 1)
	case "forgets":
		e.known = false
	default:
		e.another = what == "another"
	}
}

// serve is the worker's side of a message.
func (e *end) serve(w *lossy, move Move, reject bool) (*cluster.AttachReply, *cluster.EnqueueReply, error) {
	m := &e.sent
	switch {
	case move == Attach && e.another:
		return &cluster.AttachReply{Incarnation: 99, Report: cluster.Report{Node: "c"}}, nil, nil
	case move == Attach:
		e.known = true
		return &cluster.AttachReply{Incarnation: e.number, Number: e.last, Report: cluster.Report{Node: e.name}}, nil, nil
	case e.another || m.NodeIncarnation != e.number:
		return nil, nil, cluster.Errorf(cluster.Stale, "placements are for another process")
	case !e.known:
		return nil, nil, cluster.Errorf(cluster.UnknownScheduler, "attach first")
	case reject:
		return nil, nil, cluster.Errorf(cluster.Invalid, "nonsense")
	}
	var reply cluster.EnqueueReply
	for _, a := range m.Assignments {
		e.learn(w, a.Command)
		if a.Number <= e.last {
			if task, runs := e.runs[a.Number]; !runs || task != a.TaskID {
				w.Fatalf("%s: %s@%d is repeated, and %q had the number", e.name, a.TaskID, a.Number, task)
			}
			continue
		}
		w.gap(e, a.Number-1)
		e.last = a.Number
		e.runs[a.Number] = a.TaskID
	}
	w.gap(e, m.Number)
	return nil, &reply, nil
}

// learn takes what a placement brings. A scheduler never leaves a template out that this process does not have.
func (e *end) learn(w *lossy, c *cluster.Command) {
	switch {
	case c == nil:
	case c.Template != nil:
		e.has[c.Digest] = true
	case !e.has[c.Digest]:
		w.Fatalf("%s: a placement without its template", e.name)
	}
}

// gap checks that the numbers which the worker never saw, up to one, are those of placements that the replica
// has not at this worker.
func (w *lossy) gap(e *end, upTo int64) {
	for ; e.last < upTo; e.last++ {
		missing := e.posted[e.last].Assignment
		if missing.Number > e.givenUp && !e.refused[missing.Number] {
			w.Fatalf("%s: %s@%d never arrives", e.name, missing.TaskID, missing.Number)
		}
	}
}
