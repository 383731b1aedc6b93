// Package assemble turns a configuration into the parts of a cluster: the settings of the services and of the
// simulator, executors, policies and workloads. It is the one place where the two vocabularies meet.
package assemble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/datastore/datastored"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/rpc"
	"dodoor/internal/telemetry"
	"dodoor/internal/version"
	"dodoor/scheduler"
	"dodoor/scheduler/schedulerd"
	"dodoor/sim"
)

// Site is where a service runs.
type Site struct {
	Log     *slog.Logger
	Metrics *telemetry.Registry
	Network Network // nil: TCP
	Service string  // as the inventory calls it; empty: it is in none
	Digest  string  // of what of its configuration concerns it, if it is in an inventory

	Bundle *identity.Bundle // what it proves its identity with; nil: what the configuration says, plaintext perhaps
}

// Network is addresses on which services serve and dial each other, such as some in memory.
type Network interface {
	Listen(addr string) (net.Listener, error)
	From(name string) func(ctx context.Context, addr string) (net.Conn, error) // how the one called name dials
}

// RPC sizes the connections of a command, which proves to be security.user where the configuration has certificates; network may be nil,
// for TCP, and name is who dials.
func RPC(c *conf.Config, network Network, name string) (r rpc.Config, err error) {
	r = sized(c, network, name)
	r.Bundle, err = CommandBundle(c)
	return r, err
}

// sized is how large and how long connections and messages may get.
func sized(c *conf.Config, network Network, name string) rpc.Config {
	r := rpc.Default()
	r.MaxMessageBytes = c.RPC.MaxMessageBytes
	r.MaxSnapshotBytes = c.RPC.MaxSnapshotBytes
	r.DialTimeout = time.Duration(c.RPC.DialTimeout)
	r.CallTimeout = time.Duration(c.RPC.CallTimeout)
	r.MaxConnections = c.RPC.MaxConnections
	if network != nil {
		r.Listen, r.Dial = network.Listen, network.From(name)
	}
	return r
}

// setup is what a service says that it runs.
func (s Site) setup() cluster.Setup {
	return cluster.Setup{Name: s.Service, Version: version.Build(), Digest: s.Digest}
}

// rpc sizes a service of a role, which runs so many requests at once, and has it prove who it is.
func (s Site) rpc(c *conf.Config, role string, handlers int) (rpc.Config, error) {
	r := sized(c, s.Network, nameOf(c, role))
	r.MaxHandlers = handlers
	if r.Bundle = s.Bundle; r.Bundle == nil {
		var err error
		if r.Bundle, err = ServiceBundle(c, role, s.Service); err != nil {
			return r, err
		}
	}
	return r, nil
}

// batch is how many items one message may carry.
func batch(c *conf.Config) int {
	if c.RPC.Coalesce {
		return c.RPC.MaxBatch
	}
	return 1
}

// policy builds the policy of a real replica.
func policy(c *conf.Config) (scheduler.Policy, error) {
	if c.Scheduler.Policy == sim.Oracle {
		return nil, errors.New("the oracle exists in the simulator alone: use dodoor simulate")
	}
	if err := checkForesight(c); err != nil {
		return nil, err
	}
	return baselines.New(c.Scheduler.Policy, c.Policies, c.Generator.TimeScale)
}

// checkForesight refuses exact estimates of real work.
func checkForesight(c *conf.Config) error {
	if c.Scheduler.Estimates != scheduler.Exact.String() {
		return nil
	}
	for _, name := range Executors(c) {
		if name != "sleep" {
			return fmt.Errorf(`scheduler.estimates is "exact", but executor %s does real work, and nobody knows how long that will take: set `+
				`worker.executor = "sleep", or use dodoor simulate`, name)
		}
	}
	return nil
}

// CheckPolicy refuses a policy that does not exist on real services or, if simulated, in the simulator, before
// anything is started. That the configuration's exists somewhere, and takes its knobs, was checked as it was read.
func CheckPolicy(c *conf.Config, simulated bool) error {
	if !simulated {
		_, err := policy(c)
		return err
	}
	if c.Scheduler.Policy == sim.Oracle {
		return nil
	}
	if _, err := baselines.New(c.Scheduler.Policy, c.Policies, c.Generator.TimeScale); err != nil {
		return fmt.Errorf("%w (in the simulator also: %s)", err, sim.Oracle)
	}
	return nil
}

// Datastore builds the data service.
func Datastore(c *conf.Config, site Site) (*datastored.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	connections, err := site.rpc(c, conf.RoleDatastore, c.Datastore.MaxRPCs)
	if err != nil {
		return nil, err
	}
	return datastored.New(datastored.Config{
		Store: storeConfig(c), Listen: c.Datastore.Listen, Dimensions: dims, RPC: connections,
		Log: site.Log, Metrics: site.Metrics, Setup: site.setup(),
	})
}

// Scheduler builds one replica of the name that the configuration gives it.
func Scheduler(c *conf.Config, site Site) (*schedulerd.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	policy, err := policy(c)
	if err != nil {
		return nil, err
	}
	s, setup := &c.Scheduler, site.setup()
	setup.Policy, setup.Seed = s.Policy, c.Seed
	var mayRun func(string) error
	if site.Service != "" {
		mayRun = func(name string) error { return CheckPolicy(c.Under(name, c.Seed), false) }
	}
	folder, err := journalOf(s)
	if err != nil {
		return nil, err
	}
	connections, err := site.rpc(c, conf.RoleScheduler, s.MaxRPCs)
	if err != nil {
		return nil, err
	}
	return schedulerd.New(schedulerd.Config{
		Replica: replicaConfig(c, dims), Policy: policy, Journal: folder,
		Listen: s.Listen, Address: s.Address, DataService: c.Datastore.DialAddress(), RPC: connections, MaxBatch: batch(c),
		NodeGrace: time.Duration(s.NodeGrace), ProbeTimeout: time.Duration(s.ProbeTimeout),
		DrainTimeout: time.Duration(s.DrainTimeout), Log: site.Log, Metrics: site.Metrics, Setup: setup, MayRun: mayRun,
	})
}

// ownFolder is that of one service: several of one host may have one configuration. What is said of it names a whole path.
func ownFolder(folder, name string) (string, error) { return filepath.Abs(filepath.Join(folder, name)) }

// journalOf is the folder of a scheduler's journal; empty: it has none.
func journalOf(s *conf.Scheduler) (string, error) {
	if s.Journal == "" {
		return "", nil
	}
	folder, err := ownFolder(s.Journal, s.Name)
	if err != nil {
		return "", fmt.Errorf("scheduler %s: scheduler.journal: %w", s.Name, err)
	}
	return folder, nil
}

// lookTimeout bounds the question who is there.
const lookTimeout = 5 * time.Second

// Connect asks the data service of a cluster that runs who is there.
func Connect(ctx context.Context, c *conf.Config, cfg rpc.Config) (*rpc.DataClient, cluster.ClusterStatus, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, cluster.ClusterStatus{}, err
	}
	data := rpc.NewDataClient(c.Datastore.DialAddress(), dims, cfg)
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	status, err := data.Status(ctx)
	if err != nil {
		data.Close()
		return nil, status, fmt.Errorf("data service at %s: %w", c.Datastore.DialAddress(), err)
	}
	return data, status, nil
}
