package campaign

import (
	"context"
	"fmt"
	"hash/fnv"
	"testing"
	"time"

	"dodoor/conf"
	"dodoor/report"
)

// invented is a run without a simulator: figures that differ by setting and are the same every time.
func invented(_ context.Context, c *conf.Config) (Outcome, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %+v %+v %+v %+v %+v %+v %+v %+v", c.Seed, c.Scheduler, c.Datastore, c.Worker, c.Score, c.Plus, c.Prequal, c.Sim, c.Generator)
	x := 1 + float64(h.Sum64()%1000)/1000
	s := &report.Summary{Policy: c.Scheduler.Policy, Trace: c.Generator.Trace, QPS: c.Generator.QPS, Seed: c.Seed,
		Tasks: c.Generator.N, Completed: c.Generator.N, ThroughputPerS: 50 * x, ControlMessagesPerTask: x}
	s.MakespanS = report.Distribution{Mean: x, P50: x, P95: 3 * x, P99: 5 * x, P999: 6 * x, Max: 7 * x}
	s.SchedulingMs = report.Distribution{Mean: x / 2, P50: x / 2, P95: x, P99: x, P999: x, Max: x}
	s.Messages = report.Messages{Submit: int64(c.Generator.N), Push: int64(100 * x)}
	s.Utilisation.Cores = x / 2
	s.PerClass = map[string]report.ClassFigures{}
	for _, class := range c.Classes {
		s.PerClass[class.Name] = report.ClassFigures{UtilisationCores: x / 2}
	}
	return Outcome{Summary: s, Events: 1000, Took: time.Millisecond}, nil
}

// planOf makes the plan of some studies; none: all.
func planOf(t testing.TB, o Options) *Plan {
	t.Helper()
	studies, err := Studies(o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(studies, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ran runs a plan on invented figures.
func ran(t testing.TB, p *Plan, jobs int) *Results {
	t.Helper()
	r, err := p.Run(context.Background(), invented, jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// measured are results of settings whose runs, one per seed, have the given mean makespans.
func measured(values map[string][]float64) (func(name string) Cell, *Results) {
	r := &Results{outcomes: map[string][]*Outcome{}}
	cell := func(name string) Cell { return Cell{Policy: name} }
	for name, means := range values {
		c := cell(name)
		for _, v := range means {
			s := &report.Summary{Policy: name, Tasks: 10, Completed: 10}
			s.MakespanS.Mean = v
			r.outcomes[c.key()] = append(r.outcomes[c.key()], &Outcome{Summary: s})
		}
	}
	return cell, r
}
