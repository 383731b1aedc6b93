package experiment

import (
	"context"
	"fmt"
	"time"

	"dodoor/assemble"
	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/report/metrics"
	"dodoor/report/results"
)

// replay is a run on real services.
type replay struct {
	Setting
	workload   *generator.Workload
	schedulers []drive.Target
	connect    func(cluster.SchedulerRef) drive.Target // to those that join; nil: nobody does
	data       rpc.DataService
	settle     func(context.Context) error // checks the idle cluster's accounts; nil: not ours to check
	services   []generator.ServiceInfo     // what they run, if they were asked
	verify     func(context.Context) error // whether they still do
}

func (s Setting) newReplay(idPrefix string) (*replay, error) {
	workload, err := assemble.Workload(s.Conf, idPrefix)
	return &replay{Setting: s, workload: workload}, refuse(err)
}

// run replays the workload, writes rows and summary, and checks the accounts.
func (r *replay) run(ctx context.Context, status *cluster.ClusterStatus) (Result, error) {
	nodes := make([]cluster.Node, len(status.Nodes))
	for i := range status.Nodes {
		nodes[i] = status.Nodes[i].Node
	}
	info, err := describe(r.Conf, r.On, nodes)
	if err != nil {
		return Result{}, err
	}
	info.Services = r.services
	c := r.Conf
	driver, err := drive.New(drive.Config{
		Workload: r.workload, Schedulers: r.schedulers, Connect: r.connect, Data: r.data, Dir: r.Dir, Info: info, Warmup: c.Generator.Warmup,
		Connections: c.Generator.Connections, Coalesce: c.RPC.Coalesce, MaxBatch: c.RPC.MaxBatch,
		Timeout: time.Duration(c.Generator.Timeout), DrainTimeout: time.Duration(c.Scheduler.DrainTimeout),
		Verify: r.verify, Progress: r.Progress, Log: r.Log,
	})
	if err != nil {
		return Result{}, refuse(err)
	}
	defer context.AfterFunc(r.Hurry, driver.Close)()
	outcome, err := driver.Run(ctx)
	if err != nil {
		return Result{}, err
	}
	result := Result{Took: outcome.Elapsed}
	if result.Summary, err = summarise(r.Dir, outcome); err != nil || r.settle == nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	if err := r.settle(ctx); err != nil {
		return result, err
	}
	r.Log.Info("the idle cluster's accounts are exactly zero, at the data service and in every scheduler's view")
	return result, nil
}

// settleTimeout bounds how long an idle cluster's accounts may take to return to zero.
const settleTimeout = 10 * time.Second

// summarise writes the summary of the run in dir. Its error says what is missing from the run.
func summarise(dir string, r drive.Result) (*metrics.Summary, error) {
	summary, err := results.Summarise(dir)
	if err != nil {
		return nil, err
	}
	if err := results.WriteSummary(dir, summary); err != nil || r.Clean() {
		return summary, err
	}
	err = fmt.Errorf("%d of %d tasks did not finish: %d failed, %d timed out, %d cancelled, %d lost",
		r.Tasks-r.Finished, r.Tasks, r.Failed, r.TimedOut, r.Cancelled, r.Lost)
	if r.Stopped {
		err = fmt.Errorf("stopped: %d tasks were not submitted, %d were abandoned; %w", r.NotSubmitted, r.Abandoned, err)
	}
	return summary, err
}
