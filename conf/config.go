// Package conf is the configuration of every Dodoor service: one Config, its defaults in one
// constructor, strict decoding from TOML, validation that reports everything wrong at once, and
// the profiles that ship with the binary. docs/configuration.md explains every key.
package conf

import (
	"time"

	"dodoor/baselines"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// Config is everything that can be set. A service reads the sections that concern it, so one file
// describes a whole cluster.
type Config struct {
	Seed      uint64             `toml:"seed"` // of every random draw, together with the task's id
	Scheduler Scheduler          `toml:"scheduler"`
	Datastore Datastore          `toml:"datastore"`
	Worker    Worker             `toml:"worker"`
	RPC       RPC                `toml:"rpc"`
	Policies  scheduler.Settings // a table for the knobs of each policy that has some
	Docker    Docker             `toml:"docker"`
	Process   Process            `toml:"process"`
	Generator Generator          `toml:"generator"`
	Sim       Sim                `toml:"sim"`
	HTTP      HTTP               `toml:"http"`
	Security  Security           `toml:"security"`
	Log       Log                `toml:"log"`
	Cluster   Cluster            `toml:"cluster"`
	Hosts     []Host             `toml:"host"`
	Classes   []Class            `toml:"class"`
	Types     []TaskType         `toml:"task_type"`
}

// Scheduler configures one scheduler replica.
type Scheduler struct {
	Listen          string   `toml:"listen"`
	Address         string   `toml:"address"` // what others dial; empty: the bound address
	Name            string   `toml:"name"`
	Replicas        int      `toml:"replicas"` // S, when one process runs the whole cluster
	Policy          string   `toml:"policy"`
	BDelta          int      `toml:"b_delta"`         // placements per delta flush (Sec. 3.1)
	SelfCorrection  bool     `toml:"self_correction"` // view = snapshot + own newer placements
	MaxRPCs         int      `toml:"max_rpcs"`        // handled at the same time
	StaleAfter      Duration `toml:"stale_after"`     // own placements count in an older view in an outage; 0: four usual distances of pushes
	MaxStaleness    Duration `toml:"max_staleness"`   // flush at least this often; 0: batches alone
	MaxAttempts     int      `toml:"max_attempts"`    // placements of one task before it fails
	ReplaceTimeout  Duration `toml:"replace_timeout"` // wait for a feasible node after one was lost
	RetainResults   int      `toml:"retain_results"`  // ended tasks kept for their submitter
	RetainFor       Duration `toml:"retain_for"`
	RetainJobs      Duration `toml:"retain_jobs"`      // after the last end
	MaxPending      int      `toml:"max_pending"`      // accepted tasks that have not ended
	DefaultDuration Duration `toml:"default_duration"` // of a task of which nobody says how long it runs
	Estimates       string   `toml:"estimates"`        // where the durations come from that placement reckons with
	NodeGrace       Duration `toml:"node_grace"`       // a broken connection may heal this long
	ProbeTimeout    Duration `toml:"probe_timeout"`    // what a worker that does not answer a probe costs
	DrainTimeout    Duration `toml:"drain_timeout"`
	Journal         string   `toml:"journal"` // folder of what survives the process, below it one of the replica's name; empty: nothing does
}

// Datastore configures the data service.
type Datastore struct {
	Listen       string   `toml:"listen"`
	Address      string   `toml:"address"`       // what others dial; empty: Listen
	B            int      `toml:"b"`             // decisions, cluster-wide, per snapshot push (Sec. 3.1)
	MaxStaleness Duration `toml:"max_staleness"` // push at least this often; 0: batches alone
	MaxRPCs      int      `toml:"max_rpcs"`
	NodeTimeout  Duration `toml:"node_timeout"` // silence after which a node is gone
}

// DialAddress is where schedulers and workers reach the data service.
func (d Datastore) DialAddress() string {
	if d.Address != "" {
		return d.Address
	}
	return d.Listen
}

// Worker configures one node.
type Worker struct {
	Listen        string   `toml:"listen"`
	Address       string   `toml:"address"` // what others dial; empty: the bound address
	Name          string   `toml:"name"`
	Class         string   `toml:"class"`    // one of Classes; needed to start a worker
	Slots         int      `toml:"slots"`    // concurrent tasks; 0: the class's
	Executor      string   `toml:"executor"` // for every task type; empty: the type's own
	Noise         float64  `toml:"noise"`    // sigma of the lognormal factor on sleep durations
	TimeoutFactor float64  `toml:"timeout_factor"`
	Reestimate    bool     `toml:"reestimate"` // what runs longer than estimated counts for longer in reports
	Heartbeat     Duration `toml:"heartbeat"`
	MaxRPCs       int      `toml:"max_rpcs"`
	MaxQueue      int      `toml:"max_queue"`      // tasks waiting for the head of the line
	RetainResults int      `toml:"retain_results"` // completions kept for schedulers that were replaced
	RetainFor     Duration `toml:"retain_for"`
	DrainTimeout  Duration `toml:"drain_timeout"`
	Spool         string   `toml:"spool"`         // folder of what commands print; empty: one among the temporary files
	SpoolTaskMB   int64    `toml:"spool_task_mb"` // of one attempt of a task
	SpoolMB       int64    `toml:"spool_mb"`      // in all; the oldest that has ended goes first

	Devices map[string]*Devices `toml:"devices,omitempty"` // by extra
}

// RPC configures every Thrift connection and server.
type RPC struct {
	Coalesce         bool     `toml:"coalesce"` // what waits for a busy peer travels in one message
	MaxBatch         int      `toml:"max_batch"`
	MaxMessageBytes  int      `toml:"max_message_bytes"`
	MaxSnapshotBytes int      `toml:"max_snapshot_bytes"`
	DialTimeout      Duration `toml:"dial_timeout"`
	CallTimeout      Duration `toml:"call_timeout"`
	MaxConnections   int      `toml:"max_connections"`
}

// Generator configures the trace replay.
type Generator struct {
	Schedulers  []string `toml:"schedulers"`  // addresses
	Trace       string   `toml:"trace"`       // a file, or the name of a synthetic one
	QPS         float64  `toml:"qps"`         // arrivals per second of trace time; 0: the trace's own times
	Burst       float64  `toml:"burst"`       // rate of busy phases over QPS; 1: plain Poisson
	TraceScale  float64  `toml:"trace_scale"` // divides the trace's own times
	N           int      `toml:"n"`           // tasks, warm-up included
	Warmup      int      `toml:"warmup"`
	TimeScale   float64  `toml:"time_scale"`  // trace seconds that pass in one
	Connections int      `toml:"connections"` // per scheduler
	Timeout     Duration `toml:"timeout"`     // 0: wait for the last result
	Out         string   `toml:"out"`
}

// HTTP configures /metrics, /healthz and /readyz.
type HTTP struct {
	Listen    string `toml:"listen"`     // empty: off
	TokenFile string `toml:"token_file"` // who has what is in it may ask; empty: no token
	Pprof     bool   `toml:"pprof"`
}

// Log configures the structured log on standard error.
type Log struct {
	Level  string `toml:"level"`
	Format string `toml:"format"`
}

// Default returns the configuration of an empty file. It has no classes, so it is not valid as it
// stands.
func Default() *Config {
	limits := worker.DefaultLimits()
	return &Config{
		Seed: 1,
		Scheduler: Scheduler{
			Listen: "127.0.0.1:20503", Name: cluster.SchedulerName(0), Replicas: 5, Policy: "dodoor", BDelta: 8,
			MaxRPCs: 8, MaxAttempts: 5, ReplaceTimeout: Duration(30 * time.Second),
			RetainResults: 100_000, RetainFor: Duration(10 * time.Minute), RetainJobs: Duration(24 * time.Hour),
			MaxPending: 200_000, DefaultDuration: Duration(10 * time.Second),
			Estimates: scheduler.Learned.String(),
			NodeGrace: Duration(2 * time.Second), ProbeTimeout: Duration(time.Second), DrainTimeout: Duration(30 * time.Second),
		},
		Datastore: Datastore{
			Listen: "127.0.0.1:20510", B: 100, MaxRPCs: 8, NodeTimeout: Duration(5 * time.Second),
		},
		Worker: Worker{
			Listen: "127.0.0.1:20501", Name: cluster.WorkerName("worker", 0), Heartbeat: Duration(time.Second), MaxRPCs: 16, Reestimate: true,
			MaxQueue: limits.MaxQueue, RetainResults: limits.RetainResults, RetainFor: Duration(limits.RetainFor),
			DrainTimeout: Duration(30 * time.Second), SpoolTaskMB: 256, SpoolMB: 4096,
		},
		RPC: RPC{
			Coalesce: true, MaxBatch: 128, MaxMessageBytes: 2 << 20, MaxSnapshotBytes: 16 << 20,
			DialTimeout: Duration(time.Second), CallTimeout: Duration(5 * time.Second), MaxConnections: 16384,
		},
		Policies: baselines.Defaults(),
		Docker:   Docker{User: "65534:65534", PidsLimit: pidsLimit, TmpfsMB: 64},
		Process:  Process{Cgroup: "auto", PidsLimit: pidsLimit},
		Generator: Generator{
			Trace: "functionbench", QPS: 10, Burst: 1, TraceScale: 1, N: 4000, Warmup: 100, TimeScale: 1, Connections: 8, Out: "out",
		},
		Sim: Sim{
			Delay: Duration(100 * time.Microsecond), SchedulerCost: Duration(200 * time.Microsecond),
			DatastoreCost: Duration(200 * time.Microsecond), WorkerCost: Duration(200 * time.Microsecond),
			Change: Change{From: 0.5, Factor: 1},
		},
		Log:      Log{Level: "info", Format: "text"},
		Security: Security{Domain: "dodoor", User: "operator"},
		Cluster:  Cluster{Name: "dodoor", Folder: "dodoor", Supervision: SupervisionAuto, Parallel: 16, SSHTimeout: Duration(30 * time.Second)},
	}
}

// An element of a list of tables starts from its own defaults.
type defaulter interface{ setDefaults() }

func (c *Class) setDefaults()    { c.Count = 1 }
func (t *TaskType) setDefaults() { t.Executor = "sleep" }
