package main

import (
	"log/slog"
	"time"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/datastore"
	"dodoor/datastore/datastored"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/scheduler"
	"dodoor/scheduler/schedulerd"
)

// This file turns the configuration into the services' own settings: the one place where the two
// vocabularies meet.

func rpcConfig(c *conf.Config, handlers int) rpc.Config {
	r := rpc.Default()
	r.MaxMessageBytes = c.RPC.MaxMessageBytes
	r.MaxSnapshotBytes = c.RPC.MaxSnapshotBytes
	r.DialTimeout = time.Duration(c.RPC.DialTimeout)
	r.CallTimeout = time.Duration(c.RPC.CallTimeout)
	r.MaxConnections = c.RPC.MaxConnections
	if handlers > 0 {
		r.MaxHandlers = handlers
	}
	return r
}

// batch is how many items one message may carry.
func batch(c *conf.Config) int {
	if c.RPC.Coalesce {
		return c.RPC.MaxBatch
	}
	return 1
}

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

// checkPolicy refuses an unknown policy or knobs that it does not take.
func checkPolicy(c *conf.Config) error {
	_, err := baselines.New(c.Scheduler.Policy, policyKnobs(c))
	return err
}

func newDatastore(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (*datastored.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	return datastored.New(datastored.Config{
		Store: datastore.Config{Batch: int64(c.Datastore.B), MaxStaleness: time.Duration(c.Datastore.MaxStaleness),
			NodeTimeout: time.Duration(c.Datastore.NodeTimeout)},
		Listen: c.Datastore.Listen, Dimensions: dims, RPC: rpcConfig(c, c.Datastore.MaxRPCs), Log: log, Metrics: metrics,
	})
}

func newScheduler(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (*schedulerd.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	policy, err := baselines.New(c.Scheduler.Policy, policyKnobs(c))
	if err != nil {
		return nil, err
	}
	s := &c.Scheduler
	view := baselines.ViewOf(s.Policy, policyKnobs(c))
	return schedulerd.New(schedulerd.Config{
		Replica: scheduler.Config{
			Name: s.Name, Seed: c.Seed, DeltaBatch: s.BDelta, MaxStaleness: time.Duration(s.MaxStaleness), SelfCorrection: s.SelfCorrection || view >= baselines.Corrected, Riders: view == baselines.Fresh,
			MaxAttempts: s.MaxAttempts, ReplaceTimeout: time.Duration(s.ReplaceTimeout), RosterGrace: time.Duration(c.Datastore.NodeTimeout), MaxPending: s.MaxPending,
			RetainResults: s.RetainResults, RetainFor: time.Duration(s.RetainFor), Dimensions: dims, Types: c.TaskTypes(),
		},
		Policy: policy, Listen: s.Listen, Address: s.Address, DataService: c.Datastore.DialAddress(), RPC: rpcConfig(c, s.MaxRPCs), MaxBatch: batch(c),
		NodeGrace: time.Duration(s.NodeGrace), ProbeTimeout: time.Duration(s.ProbeTimeout),
		DrainTimeout: time.Duration(s.DrainTimeout), Log: log, Metrics: metrics,
	})
}
