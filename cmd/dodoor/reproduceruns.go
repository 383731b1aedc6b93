package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"dodoor/campaign"
	"dodoor/conf"
	"dodoor/generator"
	"dodoor/report"
	"dodoor/sim"
)

// simulate runs one setting and keeps its summary alone: the rows of a thousand runs would fill a disk.
func (r *reproduction) simulate(ctx context.Context, c *conf.Config) (campaign.Outcome, error) {
	begin := r.now()
	workload, err := newWorkload(c, "")
	if err != nil {
		return campaign.Outcome{}, err
	}
	cfg, err := simConfig(c, workload)
	if err != nil {
		return campaign.Outcome{}, err
	}
	nobody := generator.Counters{Schedulers: map[string]map[string]int64{}}
	info := generator.RunInfo{Policy: c.Scheduler.Policy, On: onSim, Trace: c.Generator.Trace, QPS: c.Generator.QPS,
		TraceScale: c.Generator.TraceScale, TimeScale: workload.TimeScale(), Seed: c.Seed, Tasks: workload.Len(), Warmup: c.Generator.Warmup,
		Schedulers: c.Scheduler.Replicas, Classes: generator.ClassesOf(cfg.Nodes), Before: nobody}
	fold := report.NewFold(&info)
	cfg.Row = func(row *generator.Row) error { fold.Add(row); return nil }
	cfg.Progress = func(int) bool { return ctx.Err() == nil }
	result, err := sim.Run(cfg)
	if err == nil {
		err = ctx.Err()
	}
	info.After = result.Counters
	return campaign.Outcome{Summary: fold.Summary(), Events: result.Events, Took: r.now().Sub(begin)}, err
}

// progress tells where the campaign is: in one line that changes on a terminal, now and then otherwise.
func (r *reproduction) progress(begin time.Time) func(campaign.Progress) {
	if r.quiet {
		return nil
	}
	const (
		step   = 0.05 // of the work, between two lines
		enough = 0.02 // of the work, to guess how long the rest takes
	)
	next := 0.0
	live := isTerminal(r.stderr)
	return func(p campaign.Progress) {
		elapsed := r.now().Sub(begin)
		text := fmt.Sprintf("%-13s %4d of %d runs, %v elapsed", p.Study, p.Done, p.Total, elapsed.Round(time.Second))
		if p.Share > enough {
			text += fmt.Sprintf(", about %v remaining", time.Duration(float64(elapsed)*(1/p.Share-1)).Round(time.Second))
		}
		switch {
		case live && p.Done < p.Total:
			fmt.Fprintf(r.stderr, "\r\x1b[K%s", text)
		case live:
			fmt.Fprint(r.stderr, "\r\x1b[K")
		case p.Share >= next || p.Done == p.Total:
			next = p.Share + step
			fmt.Fprintln(r.stderr, text)
		}
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// processorTime is what this process has used of all cores.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// machine describes this one, as far as it tells.
func machine() string {
	text := fmt.Sprintf("%d cores, %s/%s, %s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	cpus, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return text // not Linux
	}
	for line := range strings.SplitSeq(string(cpus), "\n") {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value) + ", " + text
		}
	}
	return text
}
