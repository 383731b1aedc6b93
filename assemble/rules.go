package assemble

import (
	"time"

	"dodoor/conf"
	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// What the state machines are told is the same whether daemons or the simulator drive them.

// replicaConfig is the state machine of one scheduler. How fresh its view is at least, the policy decides.
func replicaConfig(c *conf.Config, dims cluster.Dimensions) scheduler.Config {
	s := &c.Scheduler
	estimates, _ := scheduler.ParseEstimates(s.Estimates) // checked as it was read
	return scheduler.Config{
		Name: s.Name, Seed: c.Seed, DeltaBatch: s.BDelta, MaxStaleness: time.Duration(s.MaxStaleness),
		SelfCorrection: s.SelfCorrection, StaleAfter: time.Duration(s.StaleAfter),
		MaxAttempts: s.MaxAttempts, ReplaceTimeout: time.Duration(s.ReplaceTimeout), RosterGrace: time.Duration(c.Datastore.NodeTimeout),
		MaxPending: s.MaxPending, RetainResults: s.RetainResults, RetainFor: time.Duration(s.RetainFor),
		RetainJobs: time.Duration(s.RetainJobs), DefaultDuration: time.Duration(s.DefaultDuration), Estimates: estimates,
		Foresee: foresight(c, estimates), Dimensions: dims, Types: c.TaskTypes(),
	}
}

// storeConfig is the state machine of the data service.
func storeConfig(c *conf.Config) datastore.Config {
	return datastore.Config{Batch: int64(c.Datastore.B), MaxStaleness: time.Duration(c.Datastore.MaxStaleness),
		NodeTimeout: time.Duration(c.Datastore.NodeTimeout)}
}

// workerLimits bound what one worker keeps.
func workerLimits(c *conf.Config) worker.Limits {
	w := &c.Worker
	return worker.Limits{MaxQueue: w.MaxQueue, RetainResults: w.RetainResults, RetainFor: time.Duration(w.RetainFor),
		TimeoutFactor: w.TimeoutFactor}
}

// emulation says how long emulated tasks take.
func emulation(c *conf.Config) worker.Emulation {
	return worker.Emulation{Sigma: c.Worker.Noise, Seed: c.Seed}
}

// foresight tells a scheduler of exact estimates how long emulated tasks will take.
func foresight(c *conf.Config, e scheduler.Estimates) func(seed uint64) float64 {
	if e != scheduler.Exact {
		return nil
	}
	return emulation(c).Factor
}
