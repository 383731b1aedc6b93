package sim

import (
	"fmt"
	"math"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

func (c *Change) validate() error {
	switch {
	case !(c.From >= 0 && c.From <= 1):
		return fmt.Errorf("change from %v on: must be a share of the tasks, from 0 to 1", c.From)
	case !(c.Factor >= 0 && c.Factor <= maxFactor):
		return fmt.Errorf("change by %v: must be a factor, up to %v", c.Factor, maxFactor)
	}
	return nil
}

// changed are the tasks that take another time, by seed; nil: none does.
func (c *Config) changed() map[uint64]bool {
	if c.Change.Factor == 0 || c.Change.Factor == 1 {
		return nil
	}
	seeds := map[uint64]bool{}
	for i := int(math.Ceil(c.Change.From * float64(c.Workload.Len()))); i < c.Workload.Len(); i++ {
		if t := c.Workload.Task(i); c.Change.Type == "" || t.Type == c.Change.Type {
			seeds[cluster.HashID(t.ID)] = true
		}
	}
	return seeds
}

// foresees lets whoever knows the future know of the change.
func (s *Simulation) foresees(known func(seed uint64) float64) func(seed uint64) float64 {
	if known == nil || s.changed == nil {
		return known
	}
	return func(seed uint64) float64 {
		if s.changed[seed] {
			return known(seed) * s.cfg.Change.Factor
		}
		return known(seed)
	}
}

// emulated is how long an execution takes on a node that nothing else disturbs.
func (s *Simulation) emulated(start *worker.Start) time.Duration {
	d := s.cfg.Emulation.Duration(start)
	if s.changed[start.Seed] {
		return time.Duration(math.Min(float64(d)*s.cfg.Change.Factor, math.MaxInt64/2))
	}
	return d
}
