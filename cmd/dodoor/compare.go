package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"dodoor/experiment"
	"dodoor/internal/runfiles"
	"dodoor/internal/wholefile"
	"dodoor/report"
	"dodoor/report/metrics"
)

const compareExample = `dodoor compare -policies dodoor,pot,prequal,random -qps 20,60 -seeds 3 -n 2000 -time-scale 20 -out out/compare
dodoor compare -conf paper -policies dodoor,dodoor+ -baseline dodoor -qps 100 -seeds 5 -n 5000 -time-scale 20
dodoor compare -on cluster -conf lab.toml -policies dodoor,dodoor+,pot -qps 1,2 -seeds 3
dodoor compare -on sim -conf paper -trace functionbench -policies dodoor,pot,oracle -baseline pot -qps 60,100 -seeds 10 -out out/sim`

// runCompare is `dodoor compare`: several policies × rates × seeds, paired by seed and interleaved, so
// that drift of the machine hits all policies alike.
func runCompare(args []string, stdout, stderr io.Writer) int {
	o := newOptions("compare", "replays the same trace under several policies, and prints the differences with their intervals",
		compareExample, "local", stderr)
	o.traceFlags()
	policies := o.String("policies", "dodoor", "comma-separated `names`; with -on sim also oracle, which knows everything")
	rates := o.String("qps", "", "comma-separated mean `arrivals` per second, in trace time; those of the configuration (generator.qps) "+
		"when empty")
	seeds := o.Int("seeds", 3, "runs per policy and rate, each with its own seed")
	first := o.Uint64("seed", 1, "the first seed")
	baseline := o.String("baseline", "", "policy to compare with; the first one when empty")
	on := o.String("on", experiment.OnLocal, "`where` to run: local (real services, one run at a time), sim (virtual time, a run per core) "+
		"or cluster (the one that runs and has -conf for its inventory)")
	print := o.outputFlags()
	if code := o.parse(args); code >= 0 {
		return code
	}
	if *on != experiment.OnCluster { // there, services keep what they were started with
		// A task per message, so that messages count; -set rpc.coalesce=true undoes it.
		o.sets = append([]string{"rpc.coalesce=false"}, o.sets...)
	}
	c, log, code := o.read()
	if code >= 0 {
		return code
	}
	names := split(*policies)
	if *baseline == "" {
		*baseline = names[0]
	}
	ctx, hurry, stop := signals(*on, log)
	defer stop()
	if !slices.Contains([]string{experiment.OnLocal, experiment.OnSim, experiment.OnCluster}, *on) {
		return o.fail(exitUsage, fmt.Errorf("-on %s: runs take place on local, sim or cluster", *on))
	}
	base := experiment.Setting{Conf: c, On: *on, Dir: c.Generator.Out, Log: log, Progress: print.bar(), Hurry: hurry}
	if *on == experiment.OnCluster {
		base.Started = c
	}
	grid, err := newGrid(base, names, *rates, *seeds, *first)
	if err == nil && !slices.Contains(names, *baseline) {
		err = fmt.Errorf("-baseline %s is not among -policies %s", *baseline, *policies)
	}
	if err == nil {
		err = grid.Resume()
	}
	if err != nil {
		return o.fail(exitUsage, err)
	}
	var restoring error
	left := grid.Left()
	grid.Run(ctx, stderr)
	if base.Started != nil && left > 0 {
		log.Info("the cluster's schedulers take their own policy again")
		if restoring = base.Restore(context.WithoutCancel(ctx)); restoring != nil {
			restoring = fmt.Errorf("not every scheduler has its own policy again (scripts/cluster down and up give it back): %w", restoring)
		}
	}
	if ctx.Err() != nil {
		stopped := errors.New("stopped by a signal; finished runs are kept, and the same command goes on from there")
		return o.fail(exitFailed, errors.Join(stopped, restoring))
	}
	runs, err := grid.Summaries()
	err = errors.Join(err, restoring)
	if len(runs) == 0 {
		return o.conclude(err)
	}
	if err := printComparison(stdout, runs, *baseline, c.Generator.Out, print.json); err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintln(stderr, "drawing the report")
	if _, reporting := report.Build(c.Generator.Out); reporting != nil {
		return o.fail(exitFailed, errors.Join(err, fmt.Errorf("report: %w", reporting)))
	}
	fmt.Fprintf(stderr, "report       %s\n", filepath.Join(c.Generator.Out, runfiles.Page))
	return o.conclude(err)
}

// newGrid takes the axes of a comparison from its flags. No rates are the configuration's.
func newGrid(base experiment.Setting, policies []string, rates string, seeds int, first uint64) (*experiment.Grid, error) {
	if seeds < 1 || seeds > experiment.MaxSeeds {
		return nil, fmt.Errorf("-seeds is %d: must be between 1 and %d", seeds, experiment.MaxSeeds)
	}
	qps := []float64{base.Conf.Generator.QPS}
	if rates != "" {
		qps = nil
		for _, word := range split(rates) {
			rate, err := strconv.ParseFloat(word, 64)
			if err != nil || !(rate > 0 && rate <= 1e6) {
				return nil, fmt.Errorf("-qps %q: must be numbers above 0, up to 1e6", rates)
			}
			qps = append(qps, rate)
		}
	}
	all := make([]uint64, seeds)
	for i := range all {
		all[i] = first + uint64(i)
	}
	return experiment.NewGrid(base, policies, qps, all)
}

// printComparison prints the table, or with -json the same as a list, and keeps the list beside the runs.
func printComparison(w io.Writer, runs []*metrics.Summary, baseline, dir string, asJSON bool) error {
	rows := metrics.Compare(runs, baseline)
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := wholefile.Write(filepath.Join(dir, runfiles.Comparison), append(text, '\n')); err != nil {
		return err
	}
	if asJSON {
		_, err := fmt.Fprintf(w, "%s\n", text)
		return err
	}
	if err := metrics.PrintComparison(w, rows, baseline); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "rows         %s\n", dir)
	return err
}
