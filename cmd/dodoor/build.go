package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/datastore/datastored"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/scheduler"
	"dodoor/scheduler/schedulerd"
	"dodoor/sim"
)

// This file, the next (buildrules.go) and those for workers (executors.go) and the simulator (buildsim.go)
// turn the configuration into the services' own settings: the one place where the two vocabularies meet.

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

// newPolicy builds the policy of a real replica.
func newPolicy(c *conf.Config) (scheduler.Policy, error) {
	if c.Scheduler.Policy == sim.Oracle {
		return nil, errors.New("the oracle exists in the simulator alone: use dodoor simulate")
	}
	return baselines.New(c.Scheduler.Policy, policyKnobs(c))
}

// checkPolicy refuses an unknown policy or knobs that it does not take, before anything is started.
func checkPolicy(c *conf.Config, on string) error {
	if on == onSim && c.Scheduler.Policy == sim.Oracle {
		return nil
	}
	_, err := newPolicy(c)
	if err != nil && on == onSim {
		return fmt.Errorf("%w (in the simulator also: %s)", err, sim.Oracle)
	}
	return err
}

func newDatastore(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (*datastored.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	return datastored.New(datastored.Config{
		Store: storeConfig(c), Listen: c.Datastore.Listen, Dimensions: dims, RPC: rpcConfig(c, c.Datastore.MaxRPCs), Log: log, Metrics: metrics,
	})
}

func newScheduler(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (*schedulerd.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	policy, err := newPolicy(c)
	if err != nil {
		return nil, err
	}
	s := &c.Scheduler
	return schedulerd.New(schedulerd.Config{
		Replica: replicaConfig(c, dims), Policy: policy,
		Listen: s.Listen, Address: s.Address, DataService: c.Datastore.DialAddress(), RPC: rpcConfig(c, s.MaxRPCs), MaxBatch: batch(c),
		NodeGrace: time.Duration(s.NodeGrace), ProbeTimeout: time.Duration(s.ProbeTimeout),
		DrainTimeout: time.Duration(s.DrainTimeout), Log: log, Metrics: metrics,
	})
}
