package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"dodoor/report"
)

const compareExample = `dodoor compare -policies dodoor,pot,prequal,random -qps 20,60 -seeds 3 -n 2000 -time-scale 20 -out out/compare
dodoor compare -conf paper -policies dodoor,dodoor+ -baseline dodoor -qps 100 -seeds 5 -n 5000 -time-scale 20
dodoor compare -on sim -conf paper -trace functionbench -policies dodoor,dodoor+,pot,oracle -baseline pot -qps 60,100 -seeds 10 -n 20000 -out out/sim`

// runCompare is `dodoor compare`: several policies × rates × seeds, paired by seed and interleaved, so
// that drift of the machine hits all policies alike.
func runCompare(args []string, stdout, stderr io.Writer) int {
	o := newOptions("compare", "replays the same trace under several policies, and prints the differences with their intervals", compareExample, "local", stderr)
	o.sets = append(o.sets, "rpc.coalesce=false") // one task per message, so that messages count; -set rpc.coalesce=true undoes it
	o.traceFlags()
	policies := o.String("policies", "dodoor", "comma-separated `names`; with -on sim also oracle, which knows everything")
	rates := o.String("qps", "", "comma-separated mean `arrivals` per second, in trace time; those of the configuration (generator.qps) when empty")
	seeds := o.Int("seeds", 3, "runs per policy and rate, each with its own seed")
	first := o.Uint64("seed", 1, "the first seed")
	baseline := o.String("baseline", "", "policy to compare with; the first one when empty")
	on := o.String("on", onLocal, "`where` to run: local (real services, one run at a time), or sim (virtual time, a run per core)")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	if *on != onLocal && *on != onSim {
		return o.fail(exitUsage, fmt.Errorf("-on %s: this version compares on local or sim", *on))
	}
	p := plan{on: *on, log: log, quiet: print.quiet, stderr: stderr}
	err := p.list(c, *policies, *rates, *seeds, *first)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	if *baseline == "" {
		*baseline = p.cells[0].c.Scheduler.Policy
	}
	if !slices.ContainsFunc(p.cells, func(l cell) bool { return l.c.Scheduler.Policy == *baseline }) {
		return o.fail(exitUsage, fmt.Errorf("-baseline %s is not among -policies %s", *baseline, *policies))
	}
	if err := p.reuse(); err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := p.signals()
	defer stop()
	p.run(ctx)
	if ctx.Err() != nil {
		return o.fail(exitFailed, errors.New("stopped by a signal; finished runs are kept, and the same command goes on from there"))
	}
	runs, code, err := p.results()
	if len(runs) == 0 {
		return o.fail(code, err)
	}
	if err := printComparison(stdout, runs, *baseline, c.Generator.Out, print.json); err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintln(stderr, "drawing the report")
	if _, reporting := report.Build(c.Generator.Out); reporting != nil {
		code, err = exitFailed, errors.Join(err, fmt.Errorf("report: %w", reporting))
	} else {
		fmt.Fprintf(stderr, "report       %s\n", filepath.Join(c.Generator.Out, "report.html"))
	}
	if err != nil {
		return o.fail(code, err)
	}
	return exitDone
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
