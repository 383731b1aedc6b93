package sim_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/baselines"
	"dodoor/datastore/datastored"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/rpc/rpctest"
	"dodoor/internal/telemetry"
	"dodoor/scheduler/schedulerd"
	"dodoor/sim"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/workerd"
)

// realRun is what became of a workload on the production services.
type realRun struct {
	Records  map[string]cluster.TaskRecord // by task id; Received is since the start of the run
	Counters generator.Counters            // requests during the run
}

// runReal replays cfg.Workload on the production services, over real Thrift, inside a synctest bubble:
// time is virtual and the network takes none of it. Of cfg it reads what the services know; the network's
// costs, faults and quirks are the simulator's own. The data service starts first, then the workers in
// the order of cfg.Nodes, then the schedulers, each when the one before has registered; one second later,
// on a beat of every worker, the run begins. The same cfg gives the same run (see moments).
func runReal(t *testing.T, cfg sim.Config) (run realRun) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run = startReal(t, cfg).replay() })
	return run
}

// realCluster is the production services in one bubble.
type realCluster struct {
	*testing.T
	cfg     sim.Config
	moments *moments
	network *rpctest.Network
	log     *slog.Logger
	clients []*rpc.SchedulerClient // of the schedulers
	data    *rpc.DataClient

	processes map[string]*process         // by address; the newest one
	before    map[string]map[string]int64 // what they had counted when the run began, by address
	outages   map[string]int              // faults that keep away what is at an address
	past      map[string]map[string]int64 // what the processes before it counted, by address
}

const (
	dataAddress   = "data:1"
	generatorName = "generator"
	settling      = 2 * time.Second // between the services' start and the run's: on every service's beat
)

func startReal(t *testing.T, cfg sim.Config) *realCluster {
	t.Helper()
	if cfg.Heartbeat >= cfg.Store.NodeTimeout {
		t.Fatalf("heartbeat every %v: the workers would be taken for dead after %v", cfg.Heartbeat, cfg.Store.NodeTimeout)
	}
	level := slog.LevelWarn
	if len(cfg.Faults) > 0 {
		level = slog.LevelError // that somebody is out of reach is no news
	}
	c := &realCluster{T: t, cfg: cfg, network: rpctest.NewNetwork(), moments: newMoments(&cfg),
		log:       slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level})),
		processes: map[string]*process{}, outages: map[string]int{}, past: map[string]map[string]int64{}}
	t.Cleanup(func() { // last
		c.network.Wait()
		c.moments.turns.Close()
	})
	c.network.Pass = c.moments.pass
	c.network.RefusesLate = c.moments.troubles.bounces
	c.network.Refuses = func(address string) bool { return c.moments.troubles.at(address, sim.Refuses) }
	c.launch(dataAddress, c.newData)
	c.moments.turns.Quiet()
	for i := range cfg.Nodes {
		c.launch(addressOf(cfg.Nodes[i].Name), c.newWorker(cfg.Nodes[i]))
		c.moments.turns.Quiet()
	}
	generator := c.rpc(c.network.Host(generatorName))
	for i := range cfg.Schedulers {
		name := schedulerName(i)
		c.launch(addressOf(name), c.newScheduler(name))
		c.moments.turns.Quiet()
		client := rpc.NewSchedulerClient(addressOf(name), cfg.Replica.Dimensions, generator)
		c.clients = append(c.clients, client)
		c.Cleanup(func() { client.Close() })
	}
	c.data = rpc.NewDataClient(dataAddress, cfg.Replica.Dimensions, generator)
	t.Cleanup(func() { c.data.Close() })
	start := time.Now().Add(settling)
	c.await(start.Add(-1))
	c.before = c.counted()
	c.await(start)
	c.moments.turns.Quiet()
	for i, client := range c.clients {
		if counts := c.ask(client.Counters); counts["candidates"] != int64(len(cfg.Nodes)) {
			t.Fatalf("%s knows %d of %d workers", schedulerName(i), counts["candidates"], len(cfg.Nodes))
		}
	}
	return c
}

// rpc is the configuration of one process, or of its clients.
func (c *realCluster) rpc(host *rpctest.Host) rpc.Config {
	r := rpc.Default()
	r.Listen, r.Dial, r.Log = host.Listen, host.Dial, c.log
	r.PoolSize, r.MaxHandlers = plenty, plenty
	return r
}

// plenty of connections and handlers: nobody waits for one.
const plenty = 64

// process is a service that runs.
type process struct {
	service
	host   *rpctest.Host
	end    context.CancelFunc
	ended  chan error
	killed bool
	launch func(address string) // the next one
}

// service is what the shells have in common.
type service interface {
	Run(ctx context.Context) error
	Counters(ctx context.Context) (map[string]int64, error)
}

// launch starts a process at an address. The test ends it.
func (c *realCluster) launch(address string, start func(rpc.Config) (service, error)) {
	c.Helper()
	p := &process{host: c.network.Host(address), ended: make(chan error, 1)}
	p.launch = func(address string) { c.launch(address, start) }
	var err error
	if p.service, err = start(c.rpc(p.host)); err != nil {
		c.Fatal(err)
	}
	c.processes[address] = p
	var ctx context.Context
	ctx, p.end = context.WithCancel(context.Background())
	go func() { p.ended <- p.Run(ctx) }()
	c.Cleanup(func() {
		p.end()
		if err := <-p.ended; err != nil && len(c.cfg.Faults) == 0 {
			c.Error(err)
		}
	})
}

func (c *realCluster) newData(r rpc.Config) (service, error) {
	return datastored.New(datastored.Config{Store: c.cfg.Store, Listen: dataAddress, Dimensions: c.cfg.Replica.Dimensions,
		RPC: r, Log: c.log, Metrics: telemetry.NewRegistry("datastore", "datastore")})
}

func (c *realCluster) newWorker(node cluster.Node) func(rpc.Config) (service, error) {
	const sleep = "sleep"
	return func(r rpc.Config) (service, error) {
		return workerd.New(workerd.Config{
			Node: worker.Config{Node: node, Dimensions: c.cfg.Replica.Dimensions, Types: c.cfg.Replica.Types,
				Executors: []worker.Executor{{Name: sleep, Emulates: true}}, Executor: sleep, Limits: c.cfg.Limits,
				Reestimate: c.cfg.Reestimate},
			Executors: map[string]executor.Executor{sleep: c.moments.ending(executor.Sleep{Emulation: c.cfg.Emulation})},
			Listen:    addressOf(node.Name), DataService: dataAddress, RPC: r, MaxBatch: c.cfg.MaxBatch,
			Heartbeat: c.cfg.Heartbeat, DrainTimeout: time.Second, Log: c.log, Metrics: telemetry.NewRegistry("worker", node.Name)})
	}
}

func (c *realCluster) newScheduler(name string) func(rpc.Config) (service, error) {
	return func(r rpc.Config) (service, error) {
		policy, err := baselines.New(c.cfg.Policy, c.cfg.Knobs, c.cfg.Workload.TimeScale())
		if err != nil {
			return nil, err
		}
		replica := c.cfg.Replica
		replica.Name = name
		return schedulerd.New(schedulerd.Config{Replica: replica, Policy: c.moments.probing(addressOf(name), policy),
			Listen: addressOf(name), DataService: dataAddress, RPC: r, MaxBatch: c.cfg.MaxBatch, NodeGrace: c.cfg.NodeGrace,
			ProbeTimeout: time.Second, DrainTimeout: time.Second, Log: c.log, Metrics: telemetry.NewRegistry("scheduler", name)})
	}
}
