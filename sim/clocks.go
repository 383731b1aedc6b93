package sim

import (
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// calm is how often schedulers look at the clock where nothing depends on it, to forget old results.
const calm = time.Second

// startClocks starts what happens again and again. Clocks that nothing depends on stand still.
func (s *Simulation) startClocks() {
	failing := len(s.cfg.Faults) > 0
	every := calm
	if failing || s.cfg.Store.MaxStaleness > 0 || s.cfg.Replica.MaxStaleness > 0 || s.polls() {
		every = scheduler.TickEvery
	}
	for i := range s.workers {
		s.workers[i].dataAnswered(false, 0)
	}
	for i := range s.schedulers {
		d := &s.schedulers[i]
		d.tick()
		d.startClock(every)
		if failing {
			d.register()
		}
	}
	if failing || s.cfg.Store.MaxStaleness > 0 {
		s.data.startClock()
	}
	s.every(watchEvery, s.faults.watch)
	if s.cfg.SampleEvery > 0 && s.cfg.Sample != nil {
		s.every(s.cfg.SampleEvery, s.sample)
	}
}

// polls reports whether the policy acts as time goes by.
func (s *Simulation) polls() bool {
	p, _ := s.newPolicy() // its name and knobs were checked
	_, ticks := p.(scheduler.Ticker)
	return ticks
}

// sample writes the state of every node.
func (s *Simulation) sample() {
	for i := range s.workers {
		w := &s.workers[i]
		if !w.up || s.rows.err != nil {
			continue
		}
		stats := w.node.Stats(w.now())
		s.rows.err = s.cfg.Sample(&generator.NodeSample{Time: s.now, Worker: w.ref.Name, Class: w.ref.Class,
			Cores: stats.Reserved[cluster.Cores], Memory: stats.Reserved[cluster.Memory], Queued: stats.Queued, Running: stats.Running})
	}
}
