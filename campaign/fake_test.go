package campaign

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"dodoor/conf"
	"dodoor/report/metrics"
	"dodoor/report/stats"
)

// invented is a run without a simulator: figures that differ by setting and are the same every time.
func invented(_ context.Context, c *conf.Config) (Outcome, error) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %+v %+v %+v %+v %+v %+v %+v %+v", c.Seed, c.Scheduler, c.Datastore, c.Worker, c.Policies.Find("score"),
		c.Policies.Find("dodoor_plus"),
		c.Policies.Find("prequal"), c.Sim,
		c.Generator)
	x := 1 + float64(h.Sum64()%1000)/1000
	s := &metrics.Summary{Policy: c.Scheduler.Policy, Trace: c.Generator.Trace, QPS: c.Generator.QPS, Seed: c.Seed,
		Tasks: c.Generator.N, Completed: c.Generator.N, ThroughputPerS: 50 * x, ControlMessagesPerTask: x}
	s.MakespanS = stats.Distribution{Mean: x, P50: x, P95: 3 * x, P99: 5 * x, P999: 6 * x, Max: 7 * x}
	s.SchedulingMs = stats.Distribution{Mean: x / 2, P50: x / 2, P95: x, P99: x, P999: x, Max: x}
	s.Messages = metrics.Messages{Submit: int64(c.Generator.N), Push: int64(100 * x)}
	s.Utilisation.Cores = x / 2
	s.PerClass = map[string]metrics.ClassFigures{}
	for _, class := range c.Classes {
		s.PerClass[class.Name] = metrics.ClassFigures{UtilisationCores: x / 2, IdleAfterS: 100 * x}
	}
	readings := map[Clock]Reading{}
	for i, clock := range clocks {
		readings[clock] = Reading{ThroughputPerS: x * float64(50+i), P99S: x * float64(5+i)}
	}
	course := Course{LateP95: 3 * x, Changed: 2 * x, Followed: 10 * x}
	for i := range course.Windows {
		course.Windows[i] = x * float64(i+1)
	}
	return Outcome{Summary: s, Readings: readings, Course: course, Events: 1000, Took: time.Millisecond}, nil
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

// every is a plan of all studies with what was invented for it, made once: tests only read it. The quick one has
// a seed, the other three.
func every(t testing.TB, quick bool) (*Plan, *Results) {
	t.Helper()
	made := &everyPlan[map[bool]int{true: 1}[quick]]
	made.Do(func() {
		made.plan = planOf(t, Options{Seeds: map[bool]int{true: 1, false: 3}[quick], Quick: quick})
		made.results = ran(t, made.plan, 2)
	})
	return made.plan, made.results
}

var everyPlan [2]struct {
	sync.Once
	plan    *Plan
	results *Results
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
			s := &metrics.Summary{Policy: name, Tasks: 10, Completed: 10}
			s.MakespanS.Mean = v
			r.outcomes[c.key()] = append(r.outcomes[c.key()], &Outcome{Summary: s})
		}
	}
	return cell, r
}
