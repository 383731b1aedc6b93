package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/report"
)

const calibrateExample = `dodoor calibrate
dodoor calibrate -conf paper -cells functionbench:prequal:40:4000:5,trace.csv:dodoor:2:1600:40 -tolerance 0.1`

// defaultCells keep this machine far from saturation, which is not what is modelled: some 200 tasks a second
// on the wall, for 20 to 35 seconds each. Their P95 lies within a mode of the distribution of durations: where it
// lies between two, as that of dodoor+ at 40, a different task or two move it by a tenth.
const defaultCells = "functionbench:dodoor:40:4000:5,functionbench:pot:40:4000:5,functionbench:dodoor+:50:4000:5,azure:dodoor:2:1600:40"

// runCalibrate is `dodoor calibrate`: the simulator against real services.
func runCalibrate(args []string, stdout, stderr io.Writer) int {
	o := newOptions("calibrate", "replays the same traces on real services and in the simulator, and compares the figures", calibrateExample, "paper", stderr)
	// One task per message, as control messages are compared, and tasks that pass the time.
	o.sets = append(o.sets, "rpc.coalesce=false", `worker.executor="sleep"`)
	o.override("seed", "seed", "seed of arrivals, synthetic traces and every placement")
	o.override("out", "generator.out", "`directory` for the rows")
	cells := o.String("cells", defaultCells, "comma-separated `runs`, each trace:policy:qps:n:time-scale")
	tolerance := o.Float64("tolerance", 0.05, "largest difference in mean or P95 makespan, as a share")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	if !(*tolerance >= 0) {
		return o.fail(exitUsage, fmt.Errorf("-tolerance is %g: must not be negative", *tolerance))
	}
	k := calibration{log: log, quiet: print.quiet, stderr: stderr, dir: filepath.Join(c.Generator.Out, "calibrate-"+time.Now().Format("20060102-150405"))}
	if err := k.list(c, *cells); err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := signalled(log)
	defer stop()
	if err := k.measure(ctx); err != nil {
		return o.fail(exitFailed, err)
	}
	rows, code, err := k.run(ctx)
	if err != nil {
		return o.fail(code, err)
	}
	if err := k.print(stdout, rows, *tolerance, print.json); err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

// calibration compares the same runs on real services and in the simulator.
type calibration struct {
	log    *slog.Logger
	quiet  bool
	stderr io.Writer
	dir    string         // of all runs
	cells  []*conf.Config // one for each comparison
	costs  costs
}

// measure finds what a request costs on this machine, and tells the simulator: nothing else happens there.
func (k *calibration) measure(ctx context.Context) error {
	fmt.Fprintln(k.stderr, "measuring requests")
	var err error
	if k.costs, err = measureCosts(ctx, k.cells[0], quieter(k.log, k.cells[0])); err != nil {
		return err
	}
	for _, c := range k.cells {
		c.Sim = conf.Sim{SchedulerCost: conf.Duration(k.costs.Scheduler), DatastoreCost: conf.Duration(k.costs.Data), WorkerCost: conf.Duration(k.costs.Worker)}
	}
	return nil
}

// run runs every cell twice. Its exit code is for the error.
func (k *calibration) run(ctx context.Context) ([]calibrated, int, error) {
	var rows []calibrated
	for i, c := range k.cells {
		name := filepath.Join(k.dir, cellName(c))
		fmt.Fprintf(k.stderr, "cell %d of %d: %s\n", i+1, len(k.cells), filepath.Base(name))
		workload, err := newWorkload(c, "")
		if err != nil {
			return nil, exitUsage, err
		}
		r := replay{c: c, log: quieter(k.log, c), on: onLocal, dir: name + "-" + onLocal, quiet: k.quiet, config: drive.Config{Workload: workload}}
		if code, err := r.runLocally(ctx); err != nil {
			return nil, code, err
		}
		s := simulation{c: c, dir: name + "-" + onSim}
		if code, err := s.run(ctx); err != nil {
			return nil, code, err
		}
		if ctx.Err() != nil {
			return nil, exitFailed, errors.New("stopped by a signal")
		}
		rows = append(rows, calibrate(c, r.summary, s.summary))
	}
	return rows, exitDone, nil
}

// calibrated is one cell: what real services made of it, and what the simulator did.
type calibrated struct {
	Trace     string  `json:"trace"`
	Policy    string  `json:"policy"`
	QPS       float64 `json:"qps"`
	Tasks     int     `json:"tasks"`
	TimeScale float64 `json:"time_scale"`

	Local calibratedFigures `json:"local"`
	Sim   calibratedFigures `json:"sim"`

	MakespanMeanDifference float64 `json:"makespan_mean_difference"` // sim/local - 1
	MakespanP95Difference  float64 `json:"makespan_p95_difference"`
}

type calibratedFigures struct {
	MakespanMeanS          float64 `json:"makespan_mean_s"` // in trace time
	MakespanP95S           float64 `json:"makespan_p95_s"`
	SchedulingP50Ms        float64 `json:"scheduling_p50_ms"` // on the wall
	ControlMessagesPerTask float64 `json:"control_messages_per_task"`
}

func calibrate(c *conf.Config, local, simulated *report.Summary) calibrated {
	row := calibrated{Trace: c.Generator.Trace, Policy: c.Scheduler.Policy, QPS: c.Generator.QPS, Tasks: c.Generator.N, TimeScale: c.Generator.TimeScale,
		Local: figuresOf(local), Sim: figuresOf(simulated)}
	row.MakespanMeanDifference = row.Sim.MakespanMeanS/row.Local.MakespanMeanS - 1
	row.MakespanP95Difference = row.Sim.MakespanP95S/row.Local.MakespanP95S - 1
	return row
}

func figuresOf(s *report.Summary) calibratedFigures {
	return calibratedFigures{s.MakespanS.Mean, s.MakespanS.P95, s.SchedulingMs.P50, s.ControlMessagesPerTask}
}
