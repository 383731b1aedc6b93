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

// Where a run takes place.
const (
	onLocal   = "local"
	onCluster = "cluster"
	onSim     = "sim"
)

// replay is one run: what local, replay, compare and calibrate have in common.
type replay struct {
	c       *conf.Config
	log     *slog.Logger
	on      string // onLocal or onCluster
	dir     string // of the run
	quiet   bool
	config  drive.Config
	settle  func(context.Context) error // checks the idle cluster's accounts; nil: not ours to check
	summary *report.Summary             // once the run has ended
}

// prepare makes the directory of the run, before anything is started for it.
func (r *replay) prepare() error { return prepareDir(r.dir) }

func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("directory for the rows: %w (choose another with -out)", err)
	}
	return nil
}

// tidy removes the directory of a run that did not begin: one that holds anything stays.
func (r *replay) tidy() { _ = os.Remove(r.dir) }

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
	defer context.AfterFunc(hurried(ctx), driver.Close)()
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
		err = fmt.Errorf("stopped: %d tasks were not submitted, %d were abandoned; %w", r.NotSubmitted, r.Abandoned, err)
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
