package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dodoor/campaign"
	"dodoor/internal/telemetry"
)

const reproduceExample = `dodoor reproduce
dodoor reproduce -study rerun,alpha -seeds 10
dodoor reproduce -azure azure_vm_600s.csv -out out/real/reproduction.md`

// reproduction is one `dodoor reproduce`: the paper's experiments and this project's own, in the simulator.
type reproduction struct {
	options campaign.Options
	jobs    int
	page    string // files to write
	results string

	stderr io.Writer
	quiet  bool
	now    func() time.Time
}

// runReproduce is `dodoor reproduce`. It takes no configuration: the studies are what is reproduced.
func runReproduce(args []string, stdout, stderr io.Writer) int {
	r := reproduction{stderr: stderr, now: time.Now}
	flags := flag.NewFlagSet("dodoor reproduce", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "dodoor reproduce: runs the experiments of the paper, and what it leaves open, in the simulator, and writes one page.\n\nExample:\n  %s\n\nFlags:\n",
			strings.ReplaceAll(reproduceExample, "\n", "\n  "))
		flags.PrintDefaults()
	}
	flags.StringVar(&r.options.Azure, "azure", "", "Azure trace `file`; a synthetic one with the same marginals if there is none")
	flags.IntVar(&r.options.Seeds, "seeds", 5, "runs per setting, each with its own seed")
	flags.Func("study", "comma-separated `names` of the studies to run, instead of all: "+strings.Join(campaign.Names(), ", "), func(value string) error {
		for name := range strings.SplitSeq(value, ",") {
			r.options.Only = append(r.options.Only, strings.TrimSpace(name))
		}
		return nil
	})
	flags.BoolVar(&r.options.Quick, "quick", false, "a few tasks per run and two seeds: tries everything, and its figures mean nothing")
	flags.IntVar(&r.jobs, "jobs", runtime.GOMAXPROCS(0), "runs at the same time")
	flags.StringVar(&r.page, "out", "out/reproduction/reproduction.md", "page to write, a `file`; its pictures go into plots/ beside it")
	flags.StringVar(&r.results, "json", "out/reproduction/results.json", "`file` for the summaries of all runs")
	flags.BoolVar(&r.quiet, "quiet", false, "no progress")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "dodoor reproduce: unexpected argument %q\n", flags.Arg(0))
		return exitUsage
	}
	if r.options.Quick {
		r.options.Seeds = min(r.options.Seeds, quickSeeds)
	}
	log, err := telemetry.Logger("info", "text", stderr)
	if err != nil {
		fmt.Fprintf(stderr, "dodoor reproduce: %v\n", err)
		return exitUsage
	}
	ctx, stop := interruptible(log)
	defer stop()
	if code, err := r.run(ctx); err != nil {
		fmt.Fprintf(stderr, "dodoor reproduce: %v\n", err)
		return code
	}
	fmt.Fprintf(stdout, "page         %s\nresults      %s\n", r.page, r.results)
	return exitDone
}

const quickSeeds = 2

// run runs the campaign and writes its files. Its exit code is for the error.
func (r *reproduction) run(ctx context.Context) (int, error) {
	if r.jobs < 1 {
		return exitUsage, fmt.Errorf("-jobs is %d: must be at least 1", r.jobs)
	}
	studies, err := campaign.Studies(r.options)
	if err != nil {
		return exitUsage, err
	}
	if trace := r.options.Azure; trace != "" {
		if _, err := os.Stat(trace); err != nil {
			return exitUsage, fmt.Errorf("trace: %w", err)
		}
	}
	plan, err := campaign.NewPlan(studies, r.options)
	if err != nil {
		return exitUsage, err
	}
	plots := filepath.Join(filepath.Dir(r.page), "plots")
	for _, dir := range []string{plots, filepath.Dir(r.results)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return exitUsage, fmt.Errorf("directory for the results: %w", err)
		}
	}
	begin := r.now()
	results, err := plan.Run(ctx, r.simulate, r.jobs, r.progress(begin))
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("stopped by a signal; nothing was written")
		}
		return exitFailed, err
	}
	about := campaign.About{Command: r.command(), Machine: machine(), Took: r.now().Sub(begin), Busy: processorTime(), Plots: "plots"}
	if err := r.write(plan, results, about, plots); err != nil {
		return exitFailed, err
	}
	return exitDone, nil
}

// write writes the page, its pictures and the summaries. Pictures of an earlier campaign go: they would
// look current.
func (r *reproduction) write(plan *campaign.Plan, results *campaign.Results, about campaign.About, plots string) error {
	drawings, err := plan.Drawings(results)
	if err != nil {
		return err
	}
	summaries, err := plan.JSON()
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(plots, campaign.DrawingPrefix+"*.svg"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	files := map[string][]byte{r.page: plan.Page(results, about), r.results: summaries}
	for _, d := range drawings {
		files[filepath.Join(plots, d.Name)] = d.SVG
	}
	for path, content := range files {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command is the command line that gives this page, wherever its files are.
func (r *reproduction) command() string {
	text := fmt.Sprintf("dodoor reproduce -seeds %d", r.options.Seeds)
	if r.options.Azure != "" {
		text += " -azure " + filepath.Base(r.options.Azure)
	}
	if len(r.options.Only) > 0 {
		text += " -study " + strings.Join(r.options.Only, ",")
	}
	if r.options.Quick {
		text += " -quick"
	}
	return text
}
