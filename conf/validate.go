package conf

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"dodoor/baselines"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/sim"
)

// Bounds of counts: far above any use, far below overflow or exhausted memory.
const (
	manyTasks = 100_000_000
	manyNodes = 1_000_000
	manyRPCs  = 65_536
	manyItems = 65_536 // no message may hold more (internal/rpc)
	maxBytes  = 1 << 30
	minBytes  = 4096 // the smallest message limit that still carries an error
)

// Validate checks a Config that was built or changed in Go as Load checks what it reads.
func (c *Config) Validate() error {
	r := newReport("")
	validate(c, r)
	return r.err(c.labels())
}

func validate(c *Config, r *report) {
	between(r, "seed", c.Seed, 0, math.MaxInt64) // TOML has no larger integers
	c.Scheduler.validate(r)
	c.Datastore.validate(r)
	c.Worker.validate(r)
	c.RPC.validate(r)
	validateKnobs(r, c.Policies)
	c.Docker.validate(r)
	c.Process.validate(r)
	c.Generator.validate(r)
	c.Sim.validate(r)
	if c.HTTP.Listen != "" {
		hostPort(r, "http.listen", c.HTTP.Listen, 0)
	}
	pathOrNone(r, "http.token_file", "file", c.HTTP.TokenFile)
	c.Security.validate(r)
	oneOf(r, "log.level", c.Log.Level, "debug", "info", "warn", "error")
	oneOf(r, "log.format", c.Log.Format, "text", "json")
	c.Cluster.validate(r)
	c.validateHosts(r)
	c.validateBundles(r)
	c.validateClasses(r)
	validateTypes(r, c.Types)
	c.validateDevices(r)
	c.crossCheck(r)
}

func (s *Scheduler) validate(r *report) {
	hostPort(r, "scheduler.listen", s.Listen, 0)
	dialled(r, "scheduler.address", s.Address)
	identifier(r, "scheduler.name", s.Name)
	between(r, "scheduler.replicas", s.Replicas, 1, mostSchedulers)
	between(r, "scheduler.b_delta", s.BDelta, 1, manyTasks)
	between(r, "scheduler.max_rpcs", s.MaxRPCs, 1, manyRPCs)
	spanOrNone(r, "scheduler.stale_after", s.StaleAfter)
	spanOrNone(r, "scheduler.max_staleness", s.MaxStaleness)
	between(r, "scheduler.max_attempts", s.MaxAttempts, 1, 1000)
	spanOrNone(r, "scheduler.replace_timeout", s.ReplaceTimeout)
	between(r, "scheduler.retain_results", s.RetainResults, 1, manyTasks)
	span(r, "scheduler.retain_for", s.RetainFor)
	span(r, "scheduler.retain_jobs", s.RetainJobs)
	between(r, "scheduler.max_pending", s.MaxPending, 1, manyTasks)
	milliseconds(r, "scheduler.default_duration", s.DefaultDuration)
	oneOf(r, "scheduler.estimates", s.Estimates, scheduler.EstimatesWords()...)
	spanOrNone(r, "scheduler.node_grace", s.NodeGrace)
	span(r, "scheduler.probe_timeout", s.ProbeTimeout)
	spanOrNone(r, "scheduler.drain_timeout", s.DrainTimeout)
	folderOrNone(r, "scheduler.journal", s.Journal)
	oneOf(r, "scheduler.policy", s.Policy, append(baselines.Names(), sim.Oracle)...)
}

// folderOrNone takes the path of a folder, relative to where the service is started, or none.
func folderOrNone(r *report, key, path string) { pathOrNone(r, key, "folder", path) }

func pathOrNone(r *report, key, kind, path string) {
	if path != "" && (filepath.Clean(strings.TrimSpace(path)) != path || strings.ContainsRune(path, 0)) {
		r.add(key, "must be the path of a %s, without detours and spaces around it, or empty, found %.80q", kind, path)
	}
}

func (d *Datastore) validate(r *report) {
	hostPort(r, "datastore.listen", d.Listen, 0)
	dialled(r, "datastore.address", d.Address)
	between(r, "datastore.b", d.B, 1, manyTasks)
	spanOrNone(r, "datastore.max_staleness", d.MaxStaleness)
	between(r, "datastore.max_rpcs", d.MaxRPCs, 1, manyRPCs)
	span(r, "datastore.node_timeout", d.NodeTimeout)
}

func (w *Worker) validate(r *report) {
	hostPort(r, "worker.listen", w.Listen, 0)
	dialled(r, "worker.address", w.Address)
	identifier(r, "worker.name", w.Name)
	between(r, "worker.slots", w.Slots, 0, manyTasks)
	oneOf(r, "worker.executor", w.Executor, append([]string{""}, executors...)...)
	between(r, "worker.noise", w.Noise, 0, 3)
	if w.TimeoutFactor != 0 && !(w.TimeoutFactor >= 1 && w.TimeoutFactor <= 1e6) {
		r.add("worker.timeout_factor", "must be 0 (off) or between 1 and 1e+06, found %v", w.TimeoutFactor)
	}
	span(r, "worker.heartbeat", w.Heartbeat)
	between(r, "worker.max_rpcs", w.MaxRPCs, 1, manyRPCs)
	between(r, "worker.max_queue", w.MaxQueue, 1, manyTasks)
	between(r, "worker.retain_results", w.RetainResults, 1, manyTasks)
	span(r, "worker.retain_for", w.RetainFor)
	spanOrNone(r, "worker.drain_timeout", w.DrainTimeout)
	folderOrNone(r, "worker.spool", w.Spool)
	between(r, "worker.spool_task_mb", w.SpoolTaskMB, 1, 1<<30)
	between(r, "worker.spool_mb", w.SpoolMB, 1, 1<<30)
}

func (c *RPC) validate(r *report) {
	between(r, "rpc.max_batch", c.MaxBatch, 1, manyItems)
	between(r, "rpc.max_message_bytes", c.MaxMessageBytes, minBytes, maxBytes)
	between(r, "rpc.max_snapshot_bytes", c.MaxSnapshotBytes, minBytes, maxBytes)
	span(r, "rpc.dial_timeout", c.DialTimeout)
	span(r, "rpc.call_timeout", c.CallTimeout)
	between(r, "rpc.max_connections", c.MaxConnections, 1, manyRPCs)
}

// validateKnobs asks the policies.
func validateKnobs(r *report, all scheduler.Settings) {
	for _, knobs := range all {
		table := knobs.Table()
		for i := range table.Knobs {
			if problem := table.Knobs[i].Problem(); problem != "" {
				r.add(join(table.Name, table.Knobs[i].Key), "%s", problem)
			}
		}
	}
}

func (g *Generator) validate(r *report) {
	seen := newUnique(r)
	for i, scheduler := range g.Schedulers {
		path := index("generator.schedulers", i)
		hostPort(r, path, scheduler, 1)
		seen.add(path, scheduler)
	}
	if g.Trace == "" {
		r.add("generator.trace", `must be a file, "azure" or "functionbench", found nothing`)
	}
	between(r, "generator.qps", g.QPS, 0, 1e6)
	between(r, "generator.burst", g.Burst, 1, generator.MaxBurst)
	above(r, "generator.trace_scale", g.TraceScale, 0, 1e9)
	between(r, "generator.n", g.N, 1, manyTasks)
	between(r, "generator.warmup", g.Warmup, 0, manyTasks)
	between(r, "generator.time_scale", g.TimeScale, 1, cluster.MaxTimeScale)
	between(r, "generator.connections", g.Connections, 1, manyRPCs)
	spanOrNone(r, "generator.timeout", g.Timeout)
	if g.Out == "" {
		r.add("generator.out", "must be a folder, found nothing")
	}
}

// crossCheck holds what no key can say alone.
func (c *Config) crossCheck(r *report) {
	if names, most := c.extras(), cluster.MaxDimensions-cluster.FirstExtra; len(names) > most {
		r.add("class", "must have at most %d extra resources in all, found %d: %s", most, len(names), listed(names))
	}
	if c.Generator.N <= c.Generator.Warmup {
		r.add("generator.n", "must be above generator.warmup (%d), found %d: n includes the warm-up", c.Generator.Warmup, c.Generator.N)
	}
	if c.Generator.Burst > 1 && c.Generator.QPS == 0 {
		r.add("generator.burst", "must be 1 where generator.qps is 0 (the trace's own times), found %v", c.Generator.Burst)
	}
	if _, ok := c.Class(c.Worker.Class); c.Worker.Class != "" && c.Worker.Class != AutoClass && !ok {
		r.add("worker.class", "no class is called %q: there are %s, and %s", c.Worker.Class, listed(c.ClassNames()), AutoClass)
	}
	if c.Datastore.NodeTimeout <= c.Worker.Heartbeat {
		r.add("datastore.node_timeout", "must be above worker.heartbeat (%v), found %v: every node would be gone between two heartbeats",
			c.Worker.Heartbeat, c.Datastore.NodeTimeout)
	}
	c.checkFaults(r)
	c.checkChange(r)
	if c.Generator.TimeScale > 1 {
		if who := c.realWork(); who != "" {
			r.add("generator.time_scale", `must be 1 where tasks do real work, found %v: %s; set worker.executor = "sleep" to emulate`,
				c.Generator.TimeScale, who)
		}
	}
}

// realWork names a setting under which tasks do more than sleep; their time cannot be scaled.
func (c *Config) realWork() string {
	if c.Worker.Executor != "" && c.Worker.Executor != sleepExecutor {
		return fmt.Sprintf("worker.executor is %q", c.Worker.Executor)
	}
	for _, t := range c.Types {
		if c.Worker.Executor == "" && t.Executor != sleepExecutor {
			return fmt.Sprintf("task_type.%s has executor %q", t.Name, t.Executor)
		}
	}
	return ""
}
