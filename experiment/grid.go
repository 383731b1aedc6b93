package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/report/metrics"
)

// MaxSeeds bounds how often a setting is repeated.
const MaxSeeds = 1000

// Grid is the runs of a comparison, in their order: all policies side by side for every seed and rate, so that
// drift of the machine hits all policies alike.
type Grid struct{ cells []cell }

// cell is one run of a comparison.
type cell struct {
	Setting
	summary *metrics.Summary // once it has run
	err     error
}

// NewGrid lists the runs. What all have in common is base, whose directory they share.
func NewGrid(base Setting, policies []string, rates []float64, seeds []uint64) (*Grid, error) {
	g := &Grid{}
	for _, seed := range seeds {
		for _, qps := range rates {
			for _, policy := range policies {
				c := base.Conf.Under(policy, seed)
				c.Generator.QPS = qps
				if err := g.add(base, c); err != nil {
					return nil, refuse(err)
				}
			}
		}
	}
	return g, nil
}

func (g *Grid) add(s Setting, c *conf.Config) error {
	if err := assemble.CheckPolicy(c, s.On == OnSim); err != nil {
		return err
	}
	if s.Started != nil {
		if err := hasInventory(s.Started); err != nil {
			return err
		}
	}
	s.Conf, s.Dir, s.Log = c, filepath.Join(s.Dir, nameOf(c)), Quieter(s.Log, c)
	if s.On == OnSim {
		s.Progress = nil // several go on at the same time
	}
	if slices.ContainsFunc(g.cells, func(l cell) bool { return l.Dir == s.Dir }) {
		return fmt.Errorf("%s would run twice: a policy or rate is named twice", filepath.Base(s.Dir))
	}
	g.cells = append(g.cells, cell{Setting: s})
	return nil
}

// Resume takes the summaries of runs that have ended already.
func (g *Grid) Resume() error {
	for i := range g.cells {
		if err := g.cells[i].resume(); err != nil {
			return refuse(err)
		}
	}
	return nil
}

// Left counts the runs that have no summary.
func (g *Grid) Left() (n int) {
	for i := range g.cells {
		if g.cells[i].summary == nil {
			n++
		}
	}
	return n
}

// Run runs what has no summary: simulations on all cores, real clusters one by one, as they would disturb each
// other. It announces every run to w. The summaries are those of Summaries, whatever the order in which they came
// about; a run that fails ends no other.
func (g *Grid) Run(ctx context.Context, w io.Writer) error {
	var jobs []Job
	workers := 1
	for i := range g.cells {
		l := &g.cells[i]
		if l.On == OnSim {
			workers = runtime.GOMAXPROCS(0)
		}
		if l.summary != nil {
			continue
		}
		name := fmt.Sprintf("run %d of %d: %s", i+1, len(g.cells), filepath.Base(l.Dir))
		jobs = append(jobs, Job{Name: name, Weight: 1, Do: func(ctx context.Context) error {
			var r Result
			r, l.err = Run(ctx, l.Setting)
			l.summary = r.Summary
			return nil
		}})
	}
	pool := Pool{Workers: workers, Started: func(p Progress) { fmt.Fprintln(w, p.Name) }}
	return pool.Run(ctx, jobs)
}

// Summaries returns what came of the runs in the order of the grid, and joins what went wrong.
func (g *Grid) Summaries() (runs []*metrics.Summary, err error) {
	var failures []error
	for i := range g.cells {
		l := &g.cells[i]
		if l.summary != nil {
			runs = append(runs, l.summary)
		}
		if l.err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", filepath.Base(l.Dir), l.err))
		}
	}
	return runs, errors.Join(failures...)
}
