package sim

import (
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// tickEvery is how often the services look at the clock where something depends on it; calm is how often
// schedulers do otherwise, to forget old results; checkEvery how often they look whether the data service
// is still the same.
const (
	tickEvery  = 20 * time.Millisecond
	calm       = time.Second
	checkEvery = 2 * time.Second
)

// startClocks starts what happens again and again. Clocks that nothing depends on stand still.
func (s *Simulation) startClocks() {
	bounded := s.cfg.Store.MaxStaleness > 0 || len(s.cfg.Faults) > 0
	every := calm
	if bounded || s.cfg.Replica.MaxStaleness > 0 || s.polls() {
		every = tickEvery
	}
	for i := range s.workers {
		s.workers[i].rest()
	}
	for i := range s.schedulers {
		s.schedulers[i].tick()
		s.every(every, s.schedulers[i].tick)
	}
	if bounded {
		s.every(tickEvery, s.data.tick)
		s.every(checkEvery, s.faults.checkSchedulers)
	}
	s.every(watchEvery, s.faults.watch)
	if s.cfg.SampleEvery > 0 && s.cfg.Sample != nil {
		s.every(s.cfg.SampleEvery, s.sample)
	}
}

// polls reports whether the policy acts as time goes by.
func (s *Simulation) polls() bool {
	p, err := s.newPolicy()
	_, ticks := p.(scheduler.Ticker)
	return err == nil && ticks
}

// sample writes the state of every node.
func (s *Simulation) sample() {
	for i := range s.workers {
		w := &s.workers[i]
		if !w.up || s.generator.err != nil {
			continue
		}
		stats := w.node.Stats(s.now)
		s.generator.err = s.cfg.Sample(&generator.NodeSample{Time: s.now, Worker: w.ref.Name, Class: w.ref.Class,
			Cores: stats.Reserved[cluster.Cores], Memory: stats.Reserved[cluster.Memory], Queued: stats.Queued, Running: stats.Running})
	}
}
