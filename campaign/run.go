package campaign

import (
	"context"
	"fmt"
	"time"

	"dodoor/conf"
	"dodoor/experiment"
	"dodoor/generator"
	"dodoor/report/metrics"
)

// RunFunc simulates one configuration.
type RunFunc func(ctx context.Context, c *conf.Config) (Outcome, error)

// Run runs a plan, so many runs at a time. The first error ends it. Progress, which may be nil, is told after
// every run; its name is the study's.
func (p *Plan) Run(ctx context.Context, do RunFunc, jobs int, progress func(experiment.Progress)) (*Results, error) {
	var all []experiment.Job
	for _, r := range p.runs {
		all = append(all, experiment.Job{Name: r.study, Weight: r.weight, Large: r.large, Do: func(ctx context.Context) (err error) {
			if r.outcome, err = do(ctx, r.c); err != nil {
				return fmt.Errorf("study %s, policy %s, seed %d: %w", r.study, r.c.Scheduler.Policy, r.c.Seed, err)
			}
			return nil
		}})
	}
	pool := experiment.Pool{Workers: jobs, Ended: progress}
	if err := pool.Run(ctx, all); err != nil {
		return nil, err
	}
	return p.results(), nil
}

// Simulate runs one setting and keeps its summary alone: the rows of a thousand runs would fill a disk.
func Simulate(ctx context.Context, c *conf.Config) (Outcome, error) {
	begin := time.Now()
	s, err := experiment.NewSimulation(c)
	if err != nil {
		return Outcome{}, err
	}
	fold, stopwatch, course := metrics.NewFold(&s.Info), NewStopwatch(&s.Info), newCourseTaker(c, s.Workload())
	result, err := s.Run(ctx, func(row *generator.Row) error {
		fold.Add(row)
		stopwatch.Add(row)
		course.Add(row)
		return nil
	}, nil, nil)
	if err == nil {
		err = ctx.Err()
	}
	return Outcome{Summary: fold.Summary(), Readings: stopwatch.Readings(), Course: course.Course(), Events: result.Events,
		Took: time.Since(begin)}, err
}
