package calibrate

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/experiment"
	"dodoor/internal/progress"
	"dodoor/report/metrics"
)

// DefaultCells keep this machine far from saturation, which is not what is modelled: at most 200 tasks a second
// on the wall at a moderate rate, 1,000 near saturation of the emulated cluster, which needs more tasks to be
// steady. A pair takes some twenty seconds, and all of them a quarter of an hour. Moderate rates are those at
// which the P95 lies within a mode of the distribution of durations: where it lies between two, as that of
// dodoor+ at 40, a different task or two move it by a tenth. Near saturation chance counts for more: the
// simulator differs from itself by some per cent there when messages take a little longer. More seeds narrow
// the interval, longer runs hardly do.
const DefaultCells = "functionbench:dodoor:40:3000:5,functionbench:pot:40:3000:5," +
	"functionbench:prequal:40:3000:5,functionbench:dodoor+:50:3000:5," +
	"functionbench:dodoor:100:16000:10,functionbench:pot:100:16000:10," +
	"functionbench:prequal:100:16000:10,functionbench:dodoor+:100:16000:10," +
	"azure:dodoor:2:1600:40"

// Calibration runs the same cells on real services and in the simulator, each with so many seeds.
type Calibration struct {
	base  experiment.Setting
	seeds int
	cells []cell
}

type cell struct {
	c     *conf.Config  // with the first seed
	wall  time.Duration // until the last arrival of a run
	pairs []Pair
}

// New reads the cells (see Cells) of a calibration whose runs have in common what base says, its directory
// included. Whatever can be wrong with one is found before the first run.
func New(base experiment.Setting, cells string, seeds int) (*Calibration, error) {
	k := &Calibration{base: base, seeds: seeds}
	configs, err := Cells(base.Conf, cells)
	if err != nil {
		return nil, err
	}
	for _, c := range configs {
		if err := assemble.CheckPolicy(c, false); err != nil {
			return nil, fmt.Errorf("%s: %w", Name(c), err)
		}
		w, err := assemble.Workload(c, "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", Name(c), err)
		}
		k.cells = append(k.cells, cell{c: c, wall: w.Due(w.Len() - 1)})
	}
	return k, nil
}

// Run measures what a request costs on this machine and tells the simulator, runs every pair, and judges the
// cells. It tells w how far it is.
func (k *Calibration) Run(ctx context.Context, tolerance float64, w io.Writer) (*Result, error) {
	fmt.Fprintln(w, "measuring requests")
	costs, err := measureCosts(ctx, k.cells[0].c, k.base)
	if err != nil {
		return nil, err
	}
	for _, l := range k.cells {
		l.c.Sim = conf.Sim{SchedulerCost: conf.Duration(costs.Scheduler), DatastoreCost: conf.Duration(costs.Data),
			WorkerCost: conf.Duration(costs.Worker)}
	}
	if err := k.runPairs(ctx, w); err != nil {
		return nil, err
	}
	result := &Result{Tolerance: tolerance, Costs: costs}
	for _, l := range k.cells {
		result.Cells = append(result.Cells, NewRow(l.c, l.pairs, tolerance))
	}
	return result, nil
}

// runPairs runs a seed after the other, so that drift of the machine hits all cells alike.
func (k *Calibration) runPairs(ctx context.Context, w io.Writer) error {
	var jobs []experiment.Job
	var all time.Duration
	for seed := range k.seeds {
		for i := range k.cells {
			l := &k.cells[i]
			c := *l.c
			c.Seed += uint64(seed)
			name := fmt.Sprintf("%s-seed%d", Name(&c), c.Seed)
			all += l.wall
			jobs = append(jobs, experiment.Job{Name: name, Weight: l.wall.Seconds(), Do: func(ctx context.Context) error {
				pair, err := k.pair(ctx, &c, name)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				l.pairs = append(l.pairs, pair)
				return nil
			}})
		}
	}
	begin := time.Now()
	pool := experiment.Pool{Workers: 1, Started: func(p experiment.Progress) {
		times := fmt.Sprintf("0s elapsed, about %v remaining", all.Round(time.Second)) // arrivals alone
		if p.Done > 0 {
			times = progress.Times(time.Since(begin), p.Share)
		}
		fmt.Fprintf(w, "pair %d of %d: %s, %s\n", p.Started, p.Total, p.Name, times)
	}}
	return pool.Run(ctx, jobs)
}

// pair runs a cell with one seed on both sides.
func (k *Calibration) pair(ctx context.Context, c *conf.Config, name string) (Pair, error) {
	var pair Pair
	for _, side := range []struct {
		on      string
		summary **metrics.Summary
	}{{experiment.OnLocal, &pair.Local}, {experiment.OnSim, &pair.Sim}} {
		s := k.base
		s.Conf, s.On, s.Dir = c, side.on, filepath.Join(k.base.Dir, name+"-"+side.on)
		if s.Log = experiment.Quieter(s.Log, c); side.on == experiment.OnSim {
			s.Progress = nil
		}
		r, err := experiment.Run(ctx, s)
		if err != nil {
			return Pair{}, err
		}
		*side.summary = r.Summary
	}
	return pair, nil
}
