package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/report"
)

// plan is the runs of a comparison, in their order.
type plan struct {
	on     string // onLocal or onSim
	log    *slog.Logger
	quiet  bool
	stderr io.Writer
	cells  []cell
}

// cell is one run of a comparison.
type cell struct {
	c       *conf.Config
	dir     string
	summary *report.Summary // once it has run
	code    int             // for err
	err     error
}

const maxSeeds = 1000

// list makes the cells: all policies side by side for every seed and rate. No rates are the configuration's.
func (p *plan) list(c *conf.Config, policies, rates string, seeds int, first uint64) error {
	if seeds < 1 || seeds > maxSeeds {
		return fmt.Errorf("-seeds is %d: must be between 1 and %d", seeds, maxSeeds)
	}
	if rates == "" {
		rates = strconv.FormatFloat(c.Generator.QPS, 'g', -1, 64)
	}
	for seed := first; seed < first+uint64(seeds); seed++ {
		for word := range strings.SplitSeq(rates, ",") {
			qps, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
			if err != nil || !(qps > 0 && qps <= 1e6) {
				return fmt.Errorf("-qps %q: must be numbers above 0, up to 1e6", rates)
			}
			for name := range strings.SplitSeq(policies, ",") {
				own := *c
				own.Scheduler.Policy, own.Seed, own.Generator.QPS = strings.TrimSpace(name), seed, qps
				if err := p.add(&own); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (p *plan) add(c *conf.Config) error {
	if err := checkPolicy(c, p.on); err != nil {
		return err
	}
	dir := filepath.Join(c.Generator.Out, fmt.Sprintf("%s-qps%g-seed%d", c.Scheduler.Policy, c.Generator.QPS, c.Seed))
	if slices.ContainsFunc(p.cells, func(l cell) bool { return l.dir == dir }) {
		return fmt.Errorf("%s would run twice: a policy or rate is named twice", filepath.Base(dir))
	}
	p.cells = append(p.cells, cell{c: c, dir: dir})
	return nil
}

// reuse takes the summaries of cells that have run already.
func (p *plan) reuse() error {
	for i := range p.cells {
		if err := p.cells[i].reuse(p.on); err != nil {
			return err
		}
	}
	return nil
}

// reuse reads the summary of a cell that has run already with the same settings. A cell that was cut off is
// cleared away; one with other settings is an error.
func (l *cell) reuse(on string) error {
	info, err := report.ReadRun(l.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Ended == nil || info.Stopped:
		return report.RemoveRun(l.dir)
	case info.On != on:
		return fmt.Errorf("%s was run on %s: choose another -out, or remove it", l.dir, info.On)
	}
	want, err := settings(l.c)
	if err != nil {
		return err
	}
	if key := differs(info.Settings, want, ""); key != "" {
		return fmt.Errorf("%s was run with another %s: choose another -out, or remove it", l.dir, key)
	}
	l.summary, err = report.Summarise(l.dir)
	return err
}

// signals returns the context of the runs. What is simulated has nothing to wait for when it is stopped.
func (p *plan) signals() (context.Context, context.CancelFunc) {
	if p.on == onSim {
		return interruptible(p.log)
	}
	return signalled(p.log)
}

// run runs every cell that has no summary: simulations on all cores, real clusters one by one, as they
// would disturb each other. The results are in the cells, whatever the order in which they came about.
func (p *plan) run(ctx context.Context) {
	workers := 1
	if p.on == onSim {
		workers = runtime.GOMAXPROCS(0)
	}
	var said sync.Mutex
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(p.cells) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				l := &p.cells[i]
				if l.summary != nil {
					continue
				}
				said.Lock()
				fmt.Fprintf(p.stderr, "run %d of %d: %s\n", i+1, len(p.cells), filepath.Base(l.dir))
				said.Unlock()
				p.runCell(ctx, l)
			}
		})
	}
	group.Wait()
}

func (p *plan) runCell(ctx context.Context, l *cell) {
	if p.on == onSim {
		s := simulation{c: l.c, dir: l.dir}
		l.code, l.err = s.run(ctx)
		l.summary = s.summary
		return
	}
	workload, err := newWorkload(l.c, "")
	if err != nil {
		l.code, l.err = exitUsage, err
		return
	}
	r := replay{c: l.c, log: quieter(p.log, l.c), on: p.on, dir: l.dir, quiet: p.quiet, config: drive.Config{Workload: workload}}
	l.code, l.err = r.runLocally(ctx)
	l.summary = r.summary
}

// results returns the summaries in the order of the plan, and what went wrong with the exit code for that.
func (p *plan) results() (runs []*report.Summary, code int, err error) {
	var failures []error
	code = exitUsage
	for i := range p.cells {
		l := &p.cells[i]
		if l.summary != nil {
			runs = append(runs, l.summary)
		}
		if l.err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", filepath.Base(l.dir), l.err))
			code = min(code, l.code)
		}
	}
	return runs, code, errors.Join(failures...)
}
