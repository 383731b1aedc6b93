package sim

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// audit checks the run that has ended: every task has exactly one outcome, every request was answered, no
// node broke a rule, and the accounts of the idle cluster are exactly zero at the data service and in every
// view.
func (s *Simulation) audit() error {
	if err := s.verify(); err != nil {
		return err
	}
	s.drain()
	for m := range methods {
		if s.sent[m] != s.handledOf[m]+s.refusedOf[m] {
			return fmt.Errorf("%d requests of kind %d were sent, %d handled and %d refused", s.sent[m], m, s.handledOf[m], s.refusedOf[m])
		}
	}
	for i := range s.workers {
		if w := &s.workers[i]; w.check.problem != nil {
			return w.check.problem
		} else if w.up && (w.check.running != 0 || w.check.reserved != (cluster.Resources{})) {
			return fmt.Errorf("node %s still reserves %v for %d tasks", w.ref.Name, w.check.reserved, w.check.running)
		} else if n := w.check.inUse(); w.up && n != 0 {
			return fmt.Errorf("node %s still holds %d devices", w.ref.Name, n)
		}
	}
	return s.auditAccounts()
}

// settling is what everybody gets, besides the bounds of the configuration, to find out who is gone and who
// is back.
const settling = 5 * time.Second

// drain lets everything happen that is under way, and brings the accounts up to date: what the schedulers
// hold back is flushed, then pushed.
func (s *Simulation) drain() {
	if len(s.cfg.Faults) > 0 {
		s.faults.calm()
		s.later(s.cfg.Store.NodeTimeout+s.cfg.Replica.RosterGrace+settling+s.cfg.Network.patience(), func() { s.over = true })
		for !s.over {
			s.step()
		}
	}
	s.over = true
	for s.step() {
	}
	for i := range s.schedulers {
		if d := &s.schedulers[i]; d.up {
			d.perform(d.replica.Settle(d.now()))
		}
	}
	for s.step() {
	}
	for range 2 { // the first push finds out which schedulers are gone, and what they had on the way
		if s.data.up {
			actions, _ := s.data.store.Settle(s.data.now())
			s.data.perform(actions)
		}
		for s.step() {
		}
	}
}

// auditAccounts compares the aggregates with the truth, which is nothing. A fault reproduced on purpose
// shows in the views, and a data service that is away shows nothing.
func (s *Simulation) auditAccounts() error {
	if !s.data.up {
		return nil
	}
	status := s.data.store.Status(s.data.now())
	for i := range status.Nodes {
		if n := &status.Nodes[i]; s.lives(&n.Node) && !n.Load.IsZero() {
			return fmt.Errorf("the data service believes that the idle node %s holds %+v", n.Node.Name, n.Load)
		}
	}
	for i := range s.schedulers {
		d := &s.schedulers[i]
		if !d.up || !s.cached() || s.data.drift != nil {
			continue
		}
		for _, n := range d.replica.Status(d.now()).Nodes {
			if s.lives(&n.Node) && !n.Load.IsZero() {
				return fmt.Errorf("%s believes that the idle node %s holds %+v", d.ref.Name, n.Node.Name, n.Load)
			}
		}
	}
	return nil
}

// lives reports whether a node is the process that runs: nobody keeps the accounts of one that died.
func (s *Simulation) lives(n *cluster.Node) bool {
	w := &s.workers[s.nodeIndex[n.Name]]
	return w.up && w.ref.Incarnation == n.Incarnation
}

// cached reports whether the policy reads the view.
func (s *Simulation) cached() bool {
	p, err := s.newPolicy()
	return err == nil && p.Wants().Loads != scheduler.Unread
}
