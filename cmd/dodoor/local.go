package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/report"
)

const localExample = `dodoor local -n 2000 -qps 60 -time-scale 10
dodoor local -conf conf/paper.toml -trace azure -n 4000 -qps 5 -time-scale 200 -out out/azure`

// runLocal is `dodoor local`: a whole cluster in this process, over real Thrift on loopback.
func runLocal(args []string, stdout, stderr io.Writer) int {
	o := newOptions("local", "runs a whole cluster on this machine, replays a trace, prints the summary", localExample, "local", stderr)
	o.replayFlags()
	o.override("policy", "scheduler.policy", "placement `policy`")
	o.override("http", "http.listen", "`address` for /metrics, /healthz and /readyz of all services")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	if err := checkPolicy(c); err != nil {
		return o.fail(exitUsage, err)
	}
	workload, err := newWorkload(c, "")
	if err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := signalled(log)
	defer stop()
	begin := time.Now()
	l, err := startCluster(c, quieter(log, c))
	if err != nil {
		return o.fail(exitUsage, err)
	}
	defer l.stop()
	pages, err := startPages(c, log, l.allReady, l.registries...)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	defer pages.stop()
	waiting, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the cluster did not come up within %v", startTimeout))
	defer cancel()
	if err := l.ready(waiting); err != nil {
		return o.fail(exitFailed, err)
	}
	log.Info("cluster is up", "workers", len(l.workers), "schedulers", len(l.schedulers), "policy", c.Scheduler.Policy,
		"http", pages.addr, "took", time.Since(begin).Round(time.Millisecond))

	status, err := l.dataClient.Status(ctx)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	r := replay{c: c, log: log, print: print, config: drive.Config{Workload: workload, Schedulers: l.targets, Data: l.dataClient}}
	r.settle = l.settle
	return r.run(ctx, o, "local", nodesOf(status), stdout)
}

// startTimeout bounds how long a local cluster may take to come up.
const startTimeout = time.Minute

// quieter hides what every one of a hundred services has to say at the level "info", unless it was
// asked for.
func quieter(log *slog.Logger, c *conf.Config) *slog.Logger {
	if c.Log.Level == "debug" {
		return log
	}
	return slog.New(atLeast{log.Handler(), slog.LevelWarn})
}

// atLeast raises the level of a handler.
type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}

func nodesOf(status cluster.ClusterStatus) []cluster.Node {
	nodes := make([]cluster.Node, len(status.Nodes))
	for i := range status.Nodes {
		nodes[i] = status.Nodes[i].Node
	}
	return nodes
}

// replay is what local and replay have in common once there are schedulers to talk to.
type replay struct {
	c      *conf.Config
	log    *slog.Logger
	print  *outputFlags
	config drive.Config
	settle func(context.Context) error // checks the idle cluster's accounts; nil: not ours to check
}

// run replays the workload, writes rows and summary, prints the summary, and returns the exit code.
func (r *replay) run(ctx context.Context, o *options, on string, nodes []cluster.Node, stdout io.Writer) int {
	info, err := runInfo(r.c, on, nodes)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	g := &r.c.Generator
	r.config.Info, r.config.Dir, r.config.Warmup = info, runDir(r.c), g.Warmup
	r.config.Connections, r.config.Coalesce, r.config.MaxBatch = g.Connections, r.c.RPC.Coalesce, r.c.RPC.MaxBatch
	r.config.Timeout, r.config.Log = time.Duration(g.Timeout), r.log
	r.config.DrainTimeout = time.Duration(r.c.Scheduler.DrainTimeout)
	if !r.print.quiet {
		r.config.Progress = os.Stderr
	}
	driver, err := drive.New(r.config)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	result, err := driver.Run(ctx)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	summary, err := report.Summarise(r.config.Dir)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	if err := report.WriteSummary(r.config.Dir, summary); err != nil {
		return o.fail(exitFailed, err)
	}
	if err := r.print.summary(stdout, summary, r.config.Dir); err != nil {
		return o.fail(exitFailed, err)
	}
	if !result.Clean() {
		return o.fail(exitFailed, incomplete(result))
	}
	if r.settle != nil {
		return r.checkAccounts(ctx, o)
	}
	return exitDone
}

// incomplete says what is missing from a run.
func incomplete(r drive.Result) error {
	err := fmt.Errorf("%d of %d tasks did not finish: %d failed, %d timed out, %d cancelled, %d lost",
		r.Tasks-r.Finished, r.Tasks, r.Failed, r.TimedOut, r.Cancelled, r.Lost)
	if r.Stopped {
		err = fmt.Errorf("stopped by a signal: %d tasks were not submitted, %d were abandoned; %w", r.NotSubmitted, r.Abandoned, err)
	}
	return err
}

// settleTimeout bounds how long an idle cluster's accounts may take to return to zero.
const settleTimeout = 10 * time.Second

func (r *replay) checkAccounts(ctx context.Context, o *options) int {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := r.settle(ctx); err != nil {
		return o.fail(exitFailed, err)
	}
	r.log.Info("the idle cluster's accounts are exactly zero, at the data service and in every scheduler's view")
	return exitDone
}
