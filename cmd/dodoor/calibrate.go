package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dodoor/experiment"
	"dodoor/experiment/calibrate"
	"dodoor/internal/wholefile"
)

const calibrateExample = `dodoor calibrate
dodoor calibrate -seeds 10 -cells functionbench:prequal:100:16000:10,trace.csv:dodoor:2:1600:40 -tolerance 0.1

A cell agrees when the whole 95 % interval of the difference is within the tolerance, and differs when
the whole interval is beyond it; otherwise it is undecided, and more seeds may tell. The exit code is 1
when a cell differs, not when one is undecided. Let nothing else run meanwhile.`

// runCalibrate is `dodoor calibrate`: the simulator against real services.
func runCalibrate(args []string, stdout, stderr io.Writer) int {
	o := newOptions("calibrate", "replays the same traces on real services and in the simulator, and says whether the figures agree",
		calibrateExample, "paper", stderr)
	// One task per message, as control messages are compared, and tasks that pass the time.
	o.sets = append(o.sets, "rpc.coalesce=false", `worker.executor="sleep"`)
	o.override("seed", "seed", "the first seed")
	o.override("out", "generator.out", "`directory` for the rows")
	seeds := o.Int("seeds", 5, "pairs of runs per cell, each with its own seed")
	cells := o.String("cells", calibrate.DefaultCells, "comma-separated `cells`, each trace:policy:qps:n:time-scale")
	tolerance := o.Float64("tolerance", 0.05, "difference in mean or P95 makespan that counts as none, as a share")
	page := o.String("md", "", "also write the result as a page in Markdown, a `file`")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	if !(*tolerance >= 0) {
		return o.fail(exitUsage, fmt.Errorf("-tolerance is %g: must not be negative", *tolerance))
	}
	if *seeds < 2 || *seeds > experiment.MaxSeeds {
		return o.fail(exitUsage, fmt.Errorf("-seeds is %d: must be between 2, as a single pair has no interval, and %d", *seeds,
			experiment.MaxSeeds))
	}
	ctx, hurry, stop := signals(experiment.OnLocal, log)
	defer stop()
	dir := filepath.Join(c.Generator.Out, "calibrate-"+time.Now().Format("20060102-150405"))
	k, err := calibrate.New(experiment.Setting{Conf: c, Dir: dir, Log: log, Progress: print.bar(), Hurry: hurry}, *cells, *seeds)
	if err != nil {
		return o.fail(exitUsage, fmt.Errorf("-cells: %w", err))
	}
	if err := os.MkdirAll(filepath.Dir(*page), 0o755); err != nil {
		return o.fail(exitUsage, fmt.Errorf("directory for the page: %w (choose another with -md)", err))
	}
	begin := time.Now()
	result, err := k.Run(ctx, *tolerance, stderr)
	if err != nil && ctx.Err() != nil {
		err = errors.New("stopped by a signal")
	}
	if err != nil {
		return o.conclude(err)
	}
	if *page != "" {
		about := calibrate.About{Command: "dodoor calibrate " + strings.Join(args, " "), Machine: experiment.Machine(), Took: time.Since(begin)}
		if err := wholefile.WritePublic(*page, []byte(result.Page(about))); err != nil {
			return o.fail(exitFailed, err)
		}
	}
	return o.printCalibration(stdout, result, dir, print.json)
}

// printCalibration prints the table, or with -json the same as an object. Its exit code is the verdict.
func (o *options) printCalibration(stdout io.Writer, result *calibrate.Result, dir string, asJSON bool) int {
	var err error
	if asJSON {
		err = printJSON(stdout, result)
	} else if err = result.Print(stdout); err == nil {
		_, err = fmt.Fprintf(stdout, "rows         %s\n", dir)
	}
	return o.conclude(errors.Join(err, calibrate.Failures(result.Cells)))
}
