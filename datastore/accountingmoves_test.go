package datastore_test

import (
	"dodoor/internal/cluster"
)

// notify carries a worker's completions to a scheduler; a lost answer makes it repeat them.
func (w *world) notify(s *replica, n *node, loseAck bool) {
	notice, waiting := n.state.Notice(w.now, s.ref.Name, 1000)
	if !waiting {
		return
	}
	actions, err := s.state.Completed(w.now, &notice.Message)
	if err != nil {
		w.t.Fatal(err)
	}
	w.perform(s, actions)
	if !loseAck {
		n.state.Acknowledged(&notice)
	}
}

// flush lets some delta of the past arrive, perhaps again, perhaps after newer ones.
func (w *world) flush(d *cluster.Delta) {
	actions, err := w.store.Flush(w.now, d)
	if err != nil {
		w.t.Fatal(err)
	}
	w.pushes = append(w.pushes, actions.Push...)
}

// pushAll brings every scheduler to the present state.
func (w *world) pushAll() {
	actions, asked := w.store.Settle(w.now)
	w.pushes = append(w.pushes, actions.Push...)
	for len(w.pushes) > 0 {
		w.push(0, true, true)
	}
	if !w.store.Settled(asked) {
		w.t.Fatal("a push has no answer")
	}
}

func (w *world) report(r *cluster.Report) {
	if err := w.store.Report(w.now, r); err != nil && cluster.CodeOf(err) != cluster.UnknownNode {
		w.t.Fatal(err)
	}
}
