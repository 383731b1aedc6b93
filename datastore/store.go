package datastore

import (
	"fmt"
	"time"

	"dodoor/internal/cluster"
)

// Config holds the data service's settings. A zero MaxStaleness is off.
type Config struct {
	Incarnation  int64
	Batch        int64 // b: cluster-wide decisions per push
	MaxStaleness time.Duration
	NodeTimeout  time.Duration // silence after which a node is gone
}

// Store is the data service's state. It is not safe for concurrent use.
type Store struct {
	cfg        Config
	nodes      []*node // the roster, in order of registration
	byName     map[string]*node
	schedulers []*replica // registered, in order of registration
	counts     map[string]*counted
	told       told
	silence    silence

	decisions     int64 // cluster-wide, cumulative
	version       int64 // grows with every change of an aggregate
	rosterVersion int64
	pushed        int64 // version at the last push
	pushedAt      time.Duration
	rosterDirty   bool

	asks          int64 // pushes to everybody so far
	registrations int64 // of schedulers, so far
	skipped       int64 // pushes that a busy scheduler did not get
	due           []Push
}

// Actions say what a verb wants done. They are valid until the next verb.
type Actions struct {
	Push    []Push // to send
	Failing bool   // the first push to a scheduler that did not arrive, after those that did
	Gone    bool   // that scheduler is unregistered
}

// New returns an empty store.
func New(cfg Config) (*Store, error) {
	if cfg.Batch < 1 {
		return nil, fmt.Errorf("data service: b = %d: must be at least 1", cfg.Batch)
	}
	if cfg.NodeTimeout <= 0 {
		return nil, fmt.Errorf("data service: node_timeout = %v: must be positive", cfg.NodeTimeout)
	}
	return &Store{cfg: cfg, byName: map[string]*node{}, counts: map[string]*counted{},
		told: told{entries: map[toldOf]*entry{}}, silence: silence{limit: cfg.NodeTimeout}}, nil
}

// Incarnation identifies this process of the data service.
func (s *Store) Incarnation() int64 { return s.cfg.Incarnation }

// Decisions returns the cluster-wide number of scheduling decisions.
func (s *Store) Decisions() int64 { return s.decisions }

// Flush merges a delta, and pushes when the decisions cross a multiple of b. Repeated, late and
// overtaken deltas change nothing. It fails with cluster.UnknownScheduler when the sender is not
// registered and cluster.Stale when a newer process has its name.
func (s *Store) Flush(now time.Duration, d *cluster.Delta) (Actions, error) {
	if d.Decisions < 0 || d.Decisions > maxDecisions {
		return Actions{}, cluster.Errorf(cluster.Invalid, "delta of scheduler %s: %d decisions: from 0 to %d are possible", d.Scheduler,
			d.Decisions, maxDecisions)
	}
	if err := s.CheckScheduler(now, d.Scheduler, d.Incarnation); err != nil {
		return Actions{}, err
	}
	for i := range d.Placed {
		p := &d.Placed[i]
		n := s.nodeNamed(p.Node)
		if n.place(d.Scheduler, d.Incarnation, p) {
			s.touch(n)
		}
	}
	s.tell(d)
	if !s.count(d) {
		return Actions{}, nil
	}
	return s.pushAll(now), nil
}

// Report merges a worker's report; an older sequence number changes nothing. It fails with
// cluster.UnknownNode when this process of the worker is not registered.
func (s *Store) Report(now time.Duration, r *cluster.Report) error {
	heard := s.silence.hearWorker(now)
	n := s.byName[r.Node]
	if n == nil || !n.registered || n.Incarnation < r.Incarnation {
		return cluster.Errorf(cluster.UnknownNode, "worker %s (incarnation %d) is not registered", r.Node, r.Incarnation)
	}
	if n.Incarnation > r.Incarnation {
		return cluster.Errorf(cluster.Stale, "worker %s: a newer process (incarnation %d) is registered", r.Node, n.Incarnation)
	}
	n.seen, n.heard = now, heard
	if r.Sequence <= n.report.Sequence {
		return nil
	}
	if r.Draining != n.Draining {
		n.Draining = r.Draining
		s.changeRoster()
	}
	n.receive(r)
	s.touch(n)
	return nil
}

// maxDecisions bounds what one scheduler may claim: a million a second for decades, and the sum over all
// schedulers stays far from overflow.
const maxDecisions = int64(1) << 50

// TickEvery is how often a shell lets time pass.
const TickEvery = 20 * time.Millisecond

// Tick unregisters silent nodes, and pushes when the roster changed or the staleness bound is reached.
func (s *Store) Tick(now time.Duration) Actions {
	s.silence.look(now)
	s.expire(now)
	stale := s.cfg.MaxStaleness > 0 && s.version > s.pushed && now-s.pushedAt >= s.cfg.MaxStaleness
	if !s.rosterDirty && !stale {
		return Actions{}
	}
	return s.pushAll(now)
}

func (s *Store) touch(n *node) {
	s.version++
	n.changed = s.version
}

// counted is a scheduler name's share of the decisions. It outlives the registration for a while, so that
// a scheduler that returns is not counted twice.
type counted struct {
	incarnation int64
	decisions   int64
	replica     *replica      // nil: not registered
	gone        time.Duration // when it was first seen to be so, on the clock of silence; 0: not yet
}

// count adds a scheduler's decisions and reports whether the total crossed a multiple of b.
func (s *Store) count(d *cluster.Delta) bool {
	c := s.counts[d.Scheduler]
	more := d.Decisions - c.decisions
	if more <= 0 {
		return false
	}
	c.decisions = d.Decisions
	before := s.decisions / s.cfg.Batch
	s.decisions += more
	return s.decisions/s.cfg.Batch > before
}

// Nodes returns the number of registered workers.
func (s *Store) Nodes() int { return len(s.nodes) }
