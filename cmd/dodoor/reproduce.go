package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dodoor/campaign"
	"dodoor/experiment"
	"dodoor/internal/progress"
	"dodoor/internal/telemetry"
)

const reproduceExample = `dodoor reproduce
dodoor reproduce -study rerun,alpha -seeds 10
dodoor reproduce -azure azure_vm_600s.csv -out out/real/reproduction.md`

const quickSeeds = 2

// runReproduce is `dodoor reproduce`. It takes no configuration: the studies are what is reproduced.
func runReproduce(args []string, stdout, stderr io.Writer) int {
	o := newFlags("reproduce", "runs the experiments of the paper, and what it leaves open, in the simulator, and writes one page",
		reproduceExample, stderr)
	var what campaign.Options
	var files campaign.Files
	o.StringVar(&what.Azure, "azure", "", "Azure trace `file`; a synthetic one with the same marginals if there is none")
	o.IntVar(&what.Seeds, "seeds", 5, "runs per setting, each with its own seed")
	o.Func("study", "comma-separated `names` of the studies to run, instead of all: "+strings.Join(campaign.Names(), ", "),
		func(value string) error {
			what.Only = append(what.Only, split(value)...)
			return nil
		})
	o.BoolVar(&what.Quick, "quick", false, "a few tasks per run and two seeds: tries everything, and its figures mean nothing")
	jobs := o.Int("jobs", runtime.GOMAXPROCS(0), "runs at the same time")
	o.StringVar(&files.Page, "out", "out/reproduction/reproduction.md", "page to write, a `file`; its pictures go into plots/ beside it")
	o.StringVar(&files.Results, "json", "out/reproduction/results.json", "`file` for the summaries of all runs")
	quiet := o.Bool("quiet", false, "no progress")
	if code := o.parse(args); code >= 0 {
		return code
	}
	if what.Quick {
		what.Seeds = min(what.Seeds, quickSeeds)
	}
	plan, err := planCampaign(what, files, *jobs)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	log, err := telemetry.Logger("info", "text", stderr)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	defer stop()
	begin := time.Now()
	var tell func(experiment.Progress)
	if !*quiet {
		tell = progressOf(stderr, begin, plan.Runs())
	}
	results, err := plan.Run(ctx, campaign.Simulate, *jobs, tell)
	if ctx.Err() != nil {
		err = errors.New("stopped by a signal; nothing was written")
	}
	if err == nil {
		err = plan.Write(files, results, campaign.About{Command: commandOf(what), Machine: experiment.Machine(), Took: time.Since(begin),
			Busy: experiment.ProcessorTime()})
	}
	if err != nil {
		return o.fail(exitFailed, err)
	}
	fmt.Fprintf(stdout, "page         %s\nresults      %s\n", files.Page, files.Results)
	return exitDone
}

// planCampaign finds whatever can be wrong before the first run.
func planCampaign(what campaign.Options, files campaign.Files, jobs int) (*campaign.Plan, error) {
	if jobs < 1 {
		return nil, fmt.Errorf("-jobs is %d: must be at least 1", jobs)
	}
	studies, err := campaign.Studies(what)
	if err != nil {
		return nil, err
	}
	if what.Azure != "" {
		if _, err := os.Stat(what.Azure); err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
	}
	plan, err := campaign.NewPlan(studies, what)
	if err != nil {
		return nil, err
	}
	return plan, files.Prepare()
}

// progressOf tells where the campaign is.
func progressOf(w io.Writer, begin time.Time, runs int) func(experiment.Progress) {
	line := progress.NewText(w, runs)
	return func(p experiment.Progress) {
		elapsed := time.Since(begin)
		line.Show(p.Done, elapsed, func(float64) string {
			return fmt.Sprintf("%-13s %4d of %d runs, %s", p.Name, p.Done, p.Total, progress.Times(elapsed, p.Share))
		})
		if p.Done == p.Total {
			line.Finish()
		}
	}
}

// commandOf is the command line that gives this page, wherever its files are.
func commandOf(what campaign.Options) string {
	text := fmt.Sprintf("dodoor reproduce -seeds %d", what.Seeds)
	if what.Azure != "" {
		text += " -azure " + filepath.Base(what.Azure)
	}
	if len(what.Only) > 0 {
		text += " -study " + strings.Join(what.Only, ",")
	}
	if what.Quick {
		text += " -quick"
	}
	return text
}
