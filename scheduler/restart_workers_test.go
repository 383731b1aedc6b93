package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// perform does what a shell does.
func (w *survivors) perform(actions *Actions) {
	for _, i := range actions.Drop {
		delete(w.streams, i)
	}
	for _, i := range actions.Connect {
		s := w.of.Open(i)
		w.streams[i] = &s
	}
	for i := range actions.Send {
		w.streams[actions.Send[i].Node].Post(&actions.Send[i])
	}
	w.cancels = append(w.cancels, actions.Cancel...)
	w.stop()
}

// stop has the workers stop what they may be told to stop by now.
func (w *survivors) stop() {
	for len(w.cancels) > 0 && w.r.Leaves(&w.cancels[0]) {
		c := w.cancels[0]
		if w.cancels = w.cancels[1:]; w.r.Stands(&c) {
			m := w.machine(w.r.Node(c.Node).Name)
			did, _ := m.node.Cancel(w.now, c.TaskID, w.r.cfg.Name)
			w.does(m, did)
		}
	}
}

func (w *survivors) machine(name string) *machine {
	return w.workers[slices.IndexFunc(w.workers, func(m *machine) bool { return m.as.Name == name })]
}

// does carries out what a worker wants done.
func (w *survivors) does(m *machine, actions worker.Actions) {
	for _, s := range actions.Start {
		if w.starts[s.TaskID]++; w.once[s.TaskID] && w.starts[s.TaskID] > 1 {
			w.Fatalf("task %s starts again, on worker %s", s.TaskID, m.as.Name)
		}
		m.running = append(m.running, s.TaskID)
	}
	for _, id := range actions.Kill {
		w.finish(m, id, cluster.Cancelled)
	}
}

func (w *survivors) finish(m *machine, id string, outcome cluster.Outcome) {
	m.running = slices.DeleteFunc(m.running, func(other string) bool { return other == id })
	w.does(m, m.node.Finished(w.now, id, worker.Result{Outcome: outcome}))
}

// end ends an execution: well, or as a machine loses it.
func (w *survivors) end(m *machine) {
	if len(m.running) > 0 {
		w.finish(m, rapid.SampledFrom(m.running).Draw(w.T, "task"), rapid.SampledFrom([]cluster.Outcome{cluster.Finished, cluster.Finished,
			cluster.Failed, cluster.Lost}).Draw(w.T, "outcome"))
	}
}

var errNoAnswer = errors.New("no answer")

// move lets the stream to a worker make its next move, of which something becomes.
func (w *survivors) move(of int, fate string) {
	m := w.workers[of]
	index, known := w.r.nodes.byName[m.as.Name]
	s := w.streams[index]
	if !known || s == nil {
		return
	}
	var v Verdict
	switch move := s.Next(w.clock()); {
	case move == Rest:
		return
	case fate == "unsent":
		v = s.Failed(w.clock(), NotSent, errNoAnswer)
	case fate == "refused":
		v = s.Failed(w.clock(), Refused, errNoAnswer)
	case fate == "lost" || fate == "late" && move != Enqueue:
		v = s.Failed(w.clock(), Unanswered, errNoAnswer)
	case move == Attach:
		reply, actions, err := m.node.Attach(w.now, w.of.Scheduler)
		w.does(m, actions)
		v = w.verdict(s, fate, err, func() Verdict { return s.Attached(w.clock(), &reply) })
	case move == Recall:
		var q cluster.ClaimRequest
		s.Question(&q)
		holdings, err := m.node.Claim(&q)
		v = w.verdict(s, fate, err, func() Verdict { return s.Told(w.clock(), holdings) })
	default:
		v = w.enqueue(s, m, fate)
	}
	w.perform(v.Actions)
}

// verdict is what an answer leads to that may be lost.
func (w *survivors) verdict(s *Delivery, fate string, err error, answered func() Verdict) Verdict {
	switch {
	case err != nil:
		return s.Failed(w.clock(), Unanswered, err)
	case fate == "unanswered":
		return s.Failed(w.clock(), Unanswered, errNoAnswer)
	}
	return answered()
}

// enqueue carries placements over, each of them durable and with a number of its own.
func (w *survivors) enqueue(s *Delivery, m *machine, fate string) Verdict {
	var e cluster.Enqueue
	s.Message(&e)
	for _, a := range e.Assignments {
		key := fmt.Sprintf("%s/%d/%d", m.as.Name, e.NodeIncarnation, a.Number)
		is := fmt.Sprintf("%s of process %d", a.TaskID, w.incarnation)
		if was := w.numbers[key]; was != "" && was != is {
			w.Fatalf("number %d of worker %s is given for %s and for %s", a.Number, m.as.Name, was, is)
		}
		w.numbers[key] = is
		if w.disk[taskKey(a.TaskID)] == nil && w.r.tasks[a.TaskID] != nil {
			w.Fatalf("task %s leaves before it is durable", a.TaskID)
		}
	}
	if fate == "late" {
		w.late = append(w.late, letter{m, e})
		return s.Failed(w.clock(), Unanswered, errNoAnswer)
	}
	reply, actions, err := m.node.Enqueue(w.now, &e)
	w.does(m, actions)
	return w.verdict(s, fate, err, func() Verdict { return s.Enqueued(w.clock(), &reply) })
}

// arrive has a message arrive that was given up long ago.
func (w *survivors) arrive() {
	if len(w.late) > 0 {
		l := w.late[0]
		w.late = w.late[1:]
		_, actions, _ := l.to.node.Enqueue(w.now, &l.enqueue)
		w.does(l.to, actions)
	}
}

// notify carries completions to the replica. It answers when it is sure to remember.
func (w *survivors) notify(m *machine, answered bool) {
	notice, ok := m.node.Notice(w.now, w.of.Scheduler.Name, 2)
	if !ok || notice.To.Incarnation != w.incarnation {
		return // it goes to a process that is gone
	}
	actions, err := w.r.Completed(w.clock(), &notice.Message)
	if err != nil {
		w.Fatal(err)
	}
	w.perform(actions)
	if answered {
		node := m.node
		w.handOut(func() { node.Acknowledged(&notice) })
	}
}

// collect has the client read its results, which are durable when it does, and acknowledge those before.
func (w *survivors) collect() {
	if w.collecting {
		return // it has not heard of the last ones yet
	}
	w.collecting = true
	q := cluster.CollectRequest{Client: "client", After: w.cursor, Incarnation: w.r.Memory(), Max: 3}
	records, cursor, err := w.r.Collect(nil, &q)
	for w.disk.fetch(w.T, w.r) {
		records, cursor, err = w.r.Collect(nil, &q)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.handOut(func() {
		for i := range records {
			id := records[i].ID
			if _, twice := w.collected[id]; twice {
				w.Fatalf("the result of task %s comes twice", id)
			}
			if records[i].Outcome == cluster.Cancelled && !w.unwanted[id] {
				w.Fatalf("task %s is cancelled, and nobody asked for that", id)
			}
			w.collected[id] = records[i].Outcome
		}
		w.cursor, w.collecting = cursor, false
	})
}

// settle lets everything arrive and end.
func (w *survivors) settle() {
	w.crash()
	for range 40 {
		w.now += 3 * time.Second
		w.push()
		w.perform(w.r.Tick(w.clock()))
		for i, m := range w.workers {
			for range 10 {
				w.sync()
				w.move(i, "")
			}
			for len(m.running) > 0 {
				w.finish(m, m.running[0], cluster.Finished)
			}
			w.notify(m, true)
			w.sync()
		}
		for range 4 {
			w.collect()
			w.sync()
		}
	}
	for id := range w.accepted {
		if w.collected[id] == cluster.NoOutcome {
			w.Fatalf("task %s was accepted, and never ends", id)
		}
	}
	for key := range w.disk {
		if key[:1] == keyTask || key[:1] == keyResult {
			w.Fatalf("%q is kept for ever", key)
		}
	}
}
