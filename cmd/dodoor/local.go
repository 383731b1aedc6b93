package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
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
	if err := checkPolicy(c, onLocal); err != nil {
		return o.fail(exitUsage, err)
	}
	workload, err := newWorkload(c, "")
	if err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := signalled(log)
	defer stop()
	r := replay{c: c, log: log, on: onLocal, dir: runDir(c), quiet: print.quiet, config: drive.Config{Workload: workload}}
	code, err = r.runLocally(ctx)
	return r.finish(o, print, stdout, code, err)
}

// runLocally starts the cluster, replays the workload on it, and stops it. Its exit code is for the
// error.
func (r *replay) runLocally(ctx context.Context) (int, error) {
	begin := time.Now()
	if err := r.prepare(); err != nil {
		return exitUsage, err
	}
	defer r.tidy()
	l, err := startCluster(r.c, quieter(r.log, r.c))
	if err != nil {
		return exitUsage, err
	}
	defer l.stopOr(hurried(ctx))
	pages, err := startPages(r.c, r.log, l.allReady, l.registries...)
	if err != nil {
		return exitUsage, err
	}
	defer pages.stop()
	ctx, cancelRun := l.while(ctx)
	defer cancelRun()
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
	code, err := r.run(ctx, nodesOf(status))
	if fault := l.fault(); fault != nil {
		return exitFailed, fmt.Errorf("the run was ended, as a service failed: %w", fault)
	}
	return code, err
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
