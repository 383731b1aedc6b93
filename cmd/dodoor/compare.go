package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/report"
)

const compareExample = `dodoor compare -policies dodoor,pot,prequal,random -qps 20,60 -seeds 3 -n 2000 -time-scale 20 -out out/compare
dodoor compare -conf paper -policies dodoor,dodoor+ -baseline dodoor -qps 100 -seeds 5 -n 5000 -time-scale 20`

// runCompare is `dodoor compare`: several policies × rates × seeds, paired by seed and interleaved, so
// that drift of the machine hits all policies alike.
func runCompare(args []string, stdout, stderr io.Writer) int {
	o := newOptions("compare", "replays the same trace under several policies, and prints the differences with their intervals", compareExample, "local", stderr)
	o.sets = append(o.sets, "rpc.coalesce=false") // one task per message, so that messages count; -set rpc.coalesce=true undoes it
	o.traceFlags()
	policies := o.String("policies", "dodoor", "comma-separated `names`")
	rates := o.String("qps", "60", "comma-separated mean `arrivals` per second, in trace time")
	seeds := o.Int("seeds", 3, "runs per policy and rate, each with its own seed")
	first := o.Uint64("seed", 1, "the first seed")
	baseline := o.String("baseline", "", "policy to compare with; the first one when empty")
	on := o.String("on", "local", "where to run: local")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	cells, err := planCells(c, *policies, *rates, *seeds, *first)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	if *on != "local" {
		return o.fail(exitUsage, fmt.Errorf("-on %s: this version compares on local", *on))
	}
	if *baseline == "" {
		*baseline = cells[0].c.Scheduler.Policy
	}
	if !slices.ContainsFunc(cells, func(l cell) bool { return l.c.Scheduler.Policy == *baseline }) {
		return o.fail(exitUsage, fmt.Errorf("-baseline %s is not among -policies %s", *baseline, *policies))
	}
	ctx, stop := signalled(log)
	defer stop()
	var runs []*report.Summary
	var failures []error
	for i := range cells {
		l := &cells[i]
		summary, err := l.finished()
		if err != nil {
			return o.fail(exitUsage, err)
		}
		if summary == nil {
			fmt.Fprintf(stderr, "run %d of %d: %s\n", i+1, len(cells), filepath.Base(l.dir))
			r := replay{c: l.c, log: quieter(log, l.c), on: "local", dir: l.dir, quiet: print.quiet, config: drive.Config{}}
			if err := l.run(ctx, &r); err != nil {
				failures = append(failures, fmt.Errorf("%s: %w", filepath.Base(l.dir), err))
			}
			summary = r.summary
		}
		if ctx.Err() != nil {
			return o.fail(exitFailed, errors.New("stopped by a signal; finished runs are kept, and the same command goes on from there"))
		}
		if summary != nil {
			runs = append(runs, summary)
		}
	}
	if len(runs) == 0 {
		return o.fail(exitFailed, errors.Join(failures...))
	}
	if err := printComparison(stdout, runs, *baseline, c.Generator.Out, print.json); err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintln(stderr, "drawing the report")
	if _, err := report.Build(c.Generator.Out); err != nil {
		failures = append(failures, fmt.Errorf("report: %w", err))
	} else {
		fmt.Fprintf(stderr, "report       %s\n", filepath.Join(c.Generator.Out, "report.html"))
	}
	if err := errors.Join(failures...); err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

// cell is one run of a comparison.
type cell struct {
	c   *conf.Config
	dir string
}

// planCells lists the runs in their order: all policies side by side for every seed and rate.
func planCells(c *conf.Config, policies, rates string, seeds int, first uint64) ([]cell, error) {
	if seeds < 1 || seeds > maxSeeds {
		return nil, fmt.Errorf("-seeds is %d: must be between 1 and %d", seeds, maxSeeds)
	}
	var cells []cell
	for seed := first; seed < first+uint64(seeds); seed++ {
		for word := range strings.SplitSeq(rates, ",") {
			qps, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
			if err != nil || !(qps > 0 && qps <= 1e6) {
				return nil, fmt.Errorf("-qps %q: must be numbers above 0, up to 1e6", rates)
			}
			for name := range strings.SplitSeq(policies, ",") {
				own := *c
				own.Scheduler.Policy, own.Seed, own.Generator.QPS = strings.TrimSpace(name), seed, qps
				if err := checkPolicy(&own); err != nil {
					return nil, err
				}
				dir := filepath.Join(c.Generator.Out, fmt.Sprintf("%s-qps%g-seed%d", own.Scheduler.Policy, qps, seed))
				if slices.ContainsFunc(cells, func(l cell) bool { return l.dir == dir }) {
					return nil, fmt.Errorf("%s would run twice: a policy or rate is named twice", filepath.Base(dir))
				}
				cells = append(cells, cell{&own, dir})
			}
		}
	}
	return cells, nil
}

const maxSeeds = 1000

// finished returns the summary of a cell that has run already with the same settings, or nil. A cell that
// was cut off is cleared away; one with other settings is an error.
func (l *cell) finished() (*report.Summary, error) {
	info, err := report.ReadRun(l.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Ended == nil || info.Stopped:
		return nil, report.RemoveRun(l.dir)
	}
	want, err := settings(l.c)
	if err != nil {
		return nil, err
	}
	if key := differs(info.Settings, want, ""); key != "" {
		return nil, fmt.Errorf("%s was run with another %s: choose another -out, or remove it", l.dir, key)
	}
	summary, err := report.Summarise(l.dir)
	if err != nil {
		return nil, err
	}
	return summary, nil
}

func (l *cell) run(ctx context.Context, r *replay) error {
	workload, err := newWorkload(l.c, "")
	if err != nil {
		return err
	}
	r.config.Workload = workload
	_, err = r.runLocally(ctx)
	return err
}

// printComparison prints the table, or with -json the same as a list, and keeps the list beside the runs.
func printComparison(w io.Writer, runs []*report.Summary, baseline, dir string, asJSON bool) error {
	rows := report.Compare(runs, baseline)
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "comparison.json"), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if asJSON {
		_, err := fmt.Fprintf(w, "%s\n", text)
		return err
	}
	if err := report.PrintComparison(w, rows, baseline); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "rows         %s\n", dir)
	return err
}
