package sim_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
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
}

const (
	dataAddress   = "data:1"
	generatorName = "generator"
	settling      = time.Second // between the services' start and the run's
)

func startReal(t *testing.T, cfg sim.Config) *realCluster {
	t.Helper()
	if cfg.Heartbeat >= cfg.Store.NodeTimeout {
		t.Fatalf("heartbeat every %v: the workers would be taken for dead after %v", cfg.Heartbeat, cfg.Store.NodeTimeout)
	}
	c := &realCluster{T: t, cfg: cfg, network: rpctest.NewNetwork(), moments: newMoments(&cfg),
		log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))}
	t.Cleanup(func() { // last
		c.network.Wait()
		c.moments.turns.Close()
	})
	c.network.Pass = c.moments.pass
	c.startData()
	for _, node := range cfg.Nodes {
		c.startWorker(node)
	}
	for i := range cfg.Schedulers {
		c.startScheduler(schedulerName(i))
	}
	c.data = rpc.NewDataClient(dataAddress, cfg.Replica.Dimensions, c.rpc(generatorName))
	t.Cleanup(func() { c.data.Close() })
	c.await(time.Now().Add(settling))
	c.moments.turns.Quiet()
	for i, client := range c.clients {
		if counts := c.ask(client.Counters); counts["candidates"] != int64(len(cfg.Nodes)) {
			t.Fatalf("%s knows %d of %d workers", schedulerName(i), counts["candidates"], len(cfg.Nodes))
		}
	}
	return c
}

// rpc is the configuration of one service or client.
func (c *realCluster) rpc(name string) rpc.Config {
	r := rpc.Default()
	r.Listen, r.Dial, r.Log = c.network.Listen, c.network.From(name), c.log
	return r
}

// service is what the shells have in common.
type service interface {
	Run(ctx context.Context) error
	Ready() error
}

// run starts a service and returns when it has registered. The test ends it.
func (c *realCluster) run(s service, err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	c.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			c.Error(err)
		}
	})
	c.moments.turns.Quiet()
}

func (c *realCluster) startData() {
	c.Helper()
	c.run(datastored.New(datastored.Config{Store: c.cfg.Store, Listen: dataAddress, Dimensions: c.cfg.Replica.Dimensions,
		RPC: c.rpc(dataAddress), Log: c.log, Metrics: telemetry.NewRegistry("datastore", "datastore")}))
}

func (c *realCluster) startWorker(node cluster.Node) {
	c.Helper()
	const sleep = "sleep"
	c.run(workerd.New(workerd.Config{
		Node: worker.Config{Node: node, Dimensions: c.cfg.Replica.Dimensions, Types: c.cfg.Replica.Types,
			Executors: []worker.Executor{{Name: sleep, Emulates: true}}, Executor: sleep, Limits: c.cfg.Limits},
		Executors: map[string]workerd.Executor{sleep: c.moments.ending(executor.Sleep(c.cfg.Emulation))},
		Listen:    addressOf(node.Name), DataService: dataAddress, RPC: c.rpc(addressOf(node.Name)), MaxBatch: c.cfg.MaxBatch,
		Heartbeat: c.cfg.Heartbeat, DrainTimeout: time.Second, Log: c.log, Metrics: telemetry.NewRegistry("worker", node.Name)}))
}

func (c *realCluster) startScheduler(name string) {
	c.Helper()
	policy, err := baselines.New(c.cfg.Policy, c.cfg.Knobs)
	if err != nil {
		c.Fatal(err)
	}
	replica := c.cfg.Replica
	replica.Name = name
	c.run(schedulerd.New(schedulerd.Config{Replica: replica, Policy: c.moments.probing(addressOf(name), policy),
		Listen: addressOf(name), DataService: dataAddress, RPC: c.rpc(addressOf(name)), MaxBatch: c.cfg.MaxBatch, NodeGrace: time.Second,
		ProbeTimeout: time.Second, DrainTimeout: time.Second, Log: c.log, Metrics: telemetry.NewRegistry("scheduler", name)}))
	client := rpc.NewSchedulerClient(addressOf(name), c.cfg.Replica.Dimensions, c.rpc(generatorName))
	c.clients = append(c.clients, client)
	c.Cleanup(func() { client.Close() })
}

// await lets time pass.
func (c *realCluster) await(until time.Time) { <-time.After(time.Until(until)) }

// replay submits every task to the next scheduler in turn when it is due, and collects the results.
func (c *realCluster) replay() realRun {
	c.Helper()
	w := c.cfg.Workload
	before, start := c.counters(), time.Now()
	run := realRun{Records: map[string]cluster.TaskRecord{}}
	var mu sync.Mutex
	var collectors sync.WaitGroup
	for i, client := range c.clients {
		owed := (w.Len() - i + len(c.clients) - 1) / len(c.clients)
		collectors.Go(func() {
			c.collect(client, owed, func(r cluster.TaskRecord) {
				mu.Lock()
				defer mu.Unlock()
				r.Received -= time.Duration(start.UnixNano())
				run.Records[r.ID] = r
			})
		})
	}
	for i := range w.Len() {
		if i > 0 && w.Due(i) == w.Due(i-1) {
			c.Fatalf("tasks %d and %d are due at the same instant: which comes first would be chance", i-1, i)
		}
		c.await(start.Add(w.Due(i)))
		request := cluster.SubmitRequest{Client: generatorName, Tasks: []cluster.TaskSpec{w.Task(i)}}
		if refused, err := c.clients[i%len(c.clients)].Submit(context.Background(), request); err != nil || len(refused) > 0 {
			c.Fatalf("task %s: refused %v, error %v", w.ID(i), refused, err)
		}
	}
	collectors.Wait()
	c.moments.turns.Quiet()
	run.Counters = since(before, c.counters())
	return run
}

// collect takes the results that a scheduler owes, and acknowledges the last.
func (c *realCluster) collect(client *rpc.SchedulerClient, owed int, take func(cluster.TaskRecord)) {
	request := cluster.CollectRequest{Client: generatorName, Max: 1024, Wait: time.Minute}
	for owed > 0 {
		reply, err := client.Collect(context.Background(), request)
		if err != nil {
			if !errors.Is(err, rpc.ErrClosed) { // else the test has failed
				c.Errorf("results: %v", err)
			}
			return
		}
		for _, r := range reply.Records {
			take(r)
		}
		owed -= len(reply.Records)
		request.After = reply.Cursor
	}
	request.Wait = 0
	if _, err := client.Collect(context.Background(), request); err != nil {
		c.Errorf("the last results were not acknowledged: %v", err)
	}
}

// ask is a question that must be answered.
func (c *realCluster) ask(counters func(context.Context) (map[string]int64, error)) map[string]int64 {
	c.Helper()
	counts, err := counters(context.Background())
	if err != nil {
		c.Fatal(err)
	}
	return counts
}

func (c *realCluster) counters() generator.Counters {
	c.Helper()
	all := generator.Counters{Schedulers: map[string]map[string]int64{}, Data: c.ask(c.data.Counters)}
	for i, client := range c.clients {
		all.Schedulers[schedulerName(i)] = c.ask(client.Counters)
	}
	return all
}

// since returns the requests between two moments: "in.submit", "out.probe" ... as package rpc counts them.
func since(before, after generator.Counters) generator.Counters {
	requests := func(before, after map[string]int64) map[string]int64 {
		counts := map[string]int64{}
		for name, n := range after {
			if (strings.HasPrefix(name, "in.") || strings.HasPrefix(name, "out.")) && n != before[name] {
				counts[name] = n - before[name]
			}
		}
		return counts
	}
	all := generator.Counters{Schedulers: map[string]map[string]int64{}, Data: requests(before.Data, after.Data)}
	for name := range after.Schedulers {
		all.Schedulers[name] = requests(before.Schedulers[name], after.Schedulers[name])
	}
	return all
}
