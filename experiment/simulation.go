package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/generator/rundir"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
	"dodoor/sim"
)

// Simulation is a run in virtual time.
type Simulation struct {
	Info generator.RunInfo // what its rows do not say; complete once it has run
	cfg  sim.Config
}

// NewSimulation prepares a run of the configuration.
func NewSimulation(c *conf.Config) (*Simulation, error) {
	workload, err := assemble.Workload(c, "")
	if err != nil {
		return nil, refuse(err)
	}
	cfg, err := assemble.Simulator(c, workload)
	if err != nil {
		return nil, refuse(err)
	}
	info, err := describe(c, OnSim, cfg.Nodes)
	return &Simulation{Info: info.Of(workload, cfg.Warmup, cfg.Schedulers), cfg: cfg}, err
}

// Workload is what it replays.
func (s *Simulation) Workload() *generator.Workload { return s.cfg.Workload }

// Run hands the row of every task and the samples of all nodes, which may be nil, to functions that keep neither. It
// ends early when ctx does, and every task has its row all the same.
func (s *Simulation) Run(ctx context.Context, row func(*generator.Row) error, sample func(*generator.NodeSample) error,
	w io.Writer) (sim.Result, error) {
	s.Info.Started = time.Now()
	s.cfg.Row, s.cfg.Sample = row, sample
	stopProgress := s.watch(ctx, w)
	result, err := sim.Run(s.cfg)
	stopProgress()
	ended := time.Now()
	s.Info.Ended, s.Info.Stopped, s.Info.After = &ended, result.Stopped, result.Counters
	return result, err
}

// showAfter is how long a run may take without a progress bar.
const showAfter = 2 * time.Second

// watch lets the simulator draw a progress bar, and end when ctx does.
func (s *Simulation) watch(ctx context.Context, w io.Writer) (stop func()) {
	bar := progress.New(w, s.cfg.Workload.Len())
	shown := false
	s.cfg.Progress = func(ended int) bool {
		if now := time.Since(s.Info.Started); now >= showAfter {
			shown = true
			bar.Show(ended, now, func(perSecond float64) string { return fmt.Sprintf("%.0f tasks/s, ended", perSecond) })
		}
		return ctx.Err() == nil
	}
	return func() {
		if shown {
			bar.Finish()
		}
	}
}

// simulate runs a simulation whose directory holds what that of a real run holds.
func (s Setting) simulate(ctx context.Context) (Result, error) {
	run, err := NewSimulation(s.Conf)
	if err != nil {
		return Result{}, err
	}
	if err := prepareDir(s.Dir); err != nil {
		return Result{}, err
	}
	files, err := rundir.Create(s.Dir)
	if err != nil {
		return Result{}, refuse(err)
	}
	if err := files.WriteInfo(&run.Info); err != nil {
		return Result{}, errors.Join(err, files.Close())
	}
	r, err := run.Run(ctx, files.Rows.Write, files.Samples.Write, s.Progress)
	result := Result{Events: r.Events, Took: run.Info.Ended.Sub(run.Info.Started)}
	if err = errors.Join(err, files.Close()); err != nil {
		if r.Events == 0 { // it never began: the scenario is impossible
			err = refuse(errors.Join(err, rundir.Remove(s.Dir)))
		}
		return result, err
	}
	if err := files.WriteInfo(&run.Info); err != nil {
		return result, err
	}
	result.Summary, err = summarise(s.Dir, drive.Result{Tasks: run.Info.Tasks, Finished: r.Finished(), Failed: r.Outcomes[cluster.Failed],
		TimedOut: r.Outcomes[cluster.TimedOut], Cancelled: r.Outcomes[cluster.Cancelled], Lost: r.Outcomes[cluster.Lost],
		NotSubmitted: r.NotSubmitted, Abandoned: r.Abandoned, Stopped: r.Stopped, Elapsed: r.Elapsed})
	return result, err
}
