package main

import (
	"time"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// What the state machines are told is the same whether daemons or the simulator drive them.

// policyKnobs are the policies' settings. Their times are trace time: where the cluster emulates, it runs
// faster than the trace.
func policyKnobs(c *conf.Config) baselines.Knobs {
	p, q := &c.Plus, &c.Prequal
	emulated := func(d conf.Duration) time.Duration { return time.Duration(float64(d) / c.Generator.TimeScale) }
	return baselines.Knobs{
		Alpha: c.Score.Alpha, Beta: c.Score.Beta, Score: c.Score.Kind, Samples: c.ECT.Samples,
		Prequal: baselines.PrequalKnobs{Latency: q.Latency, Reuse: q.Reuse, MaxAge: emulated(q.AgeLimit), Pool: q.Pool,
			Quantile: q.QRIF, Probes: q.Probes, Removals: q.Remove, Delta: q.Delta},
		Yarp: baselines.YarpKnobs{Period: emulated(c.Yarp.Period)},
		Plus: baselines.DodoorPlusConfig{Score: p.Score, View: p.View, Home: p.Home, Foreign: p.Foreign, Gain: p.Gain,
			Adaptive: p.Adaptive, Weighted: p.Weighted, Ties: p.Ties},
	}
}

// replicaConfig is the state machine of one scheduler. How fresh its view is, the policy decides.
func replicaConfig(c *conf.Config, dims cluster.Dimensions) scheduler.Config {
	s := &c.Scheduler
	view := baselines.ViewOf(s.Policy, policyKnobs(c))
	return scheduler.Config{
		Name: s.Name, Seed: c.Seed, DeltaBatch: s.BDelta, MaxStaleness: time.Duration(s.MaxStaleness),
		SelfCorrection: s.SelfCorrection || view >= baselines.Corrected, Riders: view == baselines.Fresh,
		MaxAttempts: s.MaxAttempts, ReplaceTimeout: time.Duration(s.ReplaceTimeout), RosterGrace: time.Duration(c.Datastore.NodeTimeout),
		MaxPending: s.MaxPending, RetainResults: s.RetainResults, RetainFor: time.Duration(s.RetainFor), Dimensions: dims, Types: c.TaskTypes(),
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
	return worker.Limits{MaxQueue: w.MaxQueue, RetainResults: w.RetainResults, RetainFor: time.Duration(w.RetainFor), TimeoutFactor: w.TimeoutFactor}
}

// emulation says how long emulated tasks take.
func emulation(c *conf.Config) worker.Emulation {
	return worker.Emulation{Sigma: c.Worker.Noise, Seed: c.Seed}
}
