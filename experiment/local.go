package experiment

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/localcluster"
)

// runLocally starts the cluster, replays the workload on it, and stops it.
func (s Setting) runLocally(ctx context.Context) (Result, error) {
	r, err := s.newReplay("")
	if err != nil {
		return Result{}, err
	}
	begin := time.Now()
	if err := prepareDir(s.Dir); err != nil {
		return Result{}, err
	}
	defer tidy(s.Dir)
	l, err := localcluster.Start(s.Conf, Quieter(s.Log, s.Conf), s.Network)
	if err != nil {
		return Result{}, refuse(err)
	}
	defer l.StopOr(s.Hurry)
	own, err := assemble.CommandBundle(s.Conf)
	if err != nil {
		return Result{}, refuse(err)
	}
	pages, err := assemble.StartPages(s.Conf, own, s.Log, l.Ready, l.Registries...)
	if err != nil {
		return Result{}, refuse(err)
	}
	defer pages.Stop()
	ctx, cancelRun := l.While(ctx)
	defer cancelRun()
	if err := l.AwaitWorkers(ctx); err != nil {
		return Result{}, err
	}
	s.Log.Info("cluster is up", "workers", len(l.Workers()), "schedulers", len(l.Schedulers), "policy", s.Conf.Scheduler.Policy,
		"http", pages.Addr, "took", time.Since(begin).Round(time.Millisecond))
	r.schedulers, r.data, r.settle = l.Schedulers, l.Data, l.Settle
	return r.runOn(ctx, l)
}

// runOn is run on a cluster of its own: a service that fails ends the run, with its error.
func (r *replay) runOn(ctx context.Context, l *localcluster.Cluster) (Result, error) {
	status, err := l.Data.Status(ctx)
	if err != nil {
		return Result{}, err
	}
	result, err := r.run(ctx, &status)
	if fault := l.Fault(); fault != nil {
		err = fmt.Errorf("the run was ended, as a service failed: %w", fault)
	}
	return result, err
}

// tidy removes the directory of a run that did not begin: one that holds anything stays.
func tidy(dir string) { _ = os.Remove(dir) }

// Quieter hides what every one of a hundred services has to say at the level "info", unless the configuration asks
// for more than that.
func Quieter(log *slog.Logger, c *conf.Config) *slog.Logger {
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
