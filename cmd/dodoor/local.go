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
	r := replay{c: c, log: log, on: "local", dir: runDir(c), quiet: print.quiet, config: drive.Config{Workload: workload}}
	code, err = r.runLocally(ctx)
	return r.finish(o, print, stdout, code, err)
}

// runLocally starts the cluster, replays the workload on it, and stops it. Its exit code is for the
// error.
func (r *replay) runLocally(ctx context.Context) (int, error) {
	begin := time.Now()
	l, err := startCluster(r.c, quieter(r.log, r.c))
	if err != nil {
		return exitUsage, err
	}
	defer l.stop()
	pages, err := startPages(r.c, r.log, l.allReady, l.registries...)
	if err != nil {
		return exitUsage, err
	}
	defer pages.stop()
	waiting, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("the cluster did not come up within %v", startTimeout))
	defer cancel()
	if err := l.ready(waiting); err != nil {
		return exitFailed, err
	}
	r.log.Info("cluster is up", "workers", len(l.workers), "schedulers", len(l.schedulers), "policy", r.c.Scheduler.Policy,
		"http", pages.addr, "took", time.Since(begin).Round(time.Millisecond))
	status, err := l.dataClient.Status(ctx)
	if err != nil {
		return exitFailed, err
	}
	r.config.Schedulers, r.config.Data, r.settle = l.targets, l.dataClient, l.settle
	return r.run(ctx, nodesOf(status))
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

// replay is one run: what local, replay and compare have in common.
type replay struct {
	c       *conf.Config
	log     *slog.Logger
	on      string // local or cluster
	dir     string // of the run
	quiet   bool
	config  drive.Config
	settle  func(context.Context) error // checks the idle cluster's accounts; nil: not ours to check
	summary *report.Summary             // once the run has ended
}

// run replays the workload on the cluster, writes rows and summary, and checks the accounts. Its exit code
// is for the error.
func (r *replay) run(ctx context.Context, nodes []cluster.Node) (int, error) {
	info, err := runInfo(r.c, r.on, nodes)
	if err != nil {
		return exitFailed, err
	}
	g := &r.c.Generator
	r.config.Info, r.config.Dir, r.config.Warmup = info, r.dir, g.Warmup
	r.config.Connections, r.config.Coalesce, r.config.MaxBatch = g.Connections, r.c.RPC.Coalesce, r.c.RPC.MaxBatch
	r.config.Timeout, r.config.Log = time.Duration(g.Timeout), r.log
	r.config.DrainTimeout = time.Duration(r.c.Scheduler.DrainTimeout)
	if !r.quiet {
		r.config.Progress = os.Stderr
	}
	driver, err := drive.New(r.config)
	if err != nil {
		return exitUsage, err
	}
	result, err := driver.Run(ctx)
	if err != nil {
		return exitFailed, err
	}
	if r.summary, err = report.Summarise(r.dir); err != nil {
		return exitFailed, err
	}
	if err := report.WriteSummary(r.dir, r.summary); err != nil {
		return exitFailed, err
	}
	if !result.Clean() {
		return exitFailed, incomplete(result)
	}
	if r.settle == nil {
		return exitDone, nil
	}
	return r.checkAccounts(ctx)
}

// finish prints the summary, if there is one, and the error.
func (r *replay) finish(o *options, print *outputFlags, stdout io.Writer, code int, err error) int {
	if r.summary != nil {
		if err := print.summary(stdout, r.summary, r.dir); err != nil {
			return o.fail(exitFailed, err)
		}
	}
	if err != nil {
		return o.fail(code, err)
	}
	return code
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

func (r *replay) checkAccounts(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := r.settle(ctx); err != nil {
		return exitFailed, err
	}
	r.log.Info("the idle cluster's accounts are exactly zero, at the data service and in every scheduler's view")
	return exitDone, nil
}
