// Package group sorts runs into those whose figures can be compared: what tables, plots and the page are made from.
package group

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dodoor/report/metrics"
	"dodoor/report/results"
	"dodoor/report/stats"
)

// Group holds the runs whose figures can be compared: one trace with one number of tasks, on one
// cluster at one time scale. Runs of different groups never share a figure.
type Group struct {
	Title    string
	Policies []Policy  // by name
	QPS      []float64 // ascending; one 0 when the trace's own times were used
	Runs     []*results.Run
}

// Policy is one line in a figure. Runs of one policy whose settings differ are several, and the
// label says in what.
type Policy struct {
	Label string
	Cells []Cell // one for each QPS that was run, ascending
}

// Cell holds the runs of one policy at one QPS: one for each seed.
type Cell struct {
	QPS  float64
	Runs []*results.Run // by seed
}

// Complete reports whether all runs of the cell are.
func (c *Cell) Complete() bool {
	return !slices.ContainsFunc(c.Runs, func(r *results.Run) bool { return !r.Complete() })
}

// At returns the cell at the given QPS, or nil.
func (p *Policy) At(qps float64) *Cell {
	for i := range p.Cells {
		if p.Cells[i].QPS == qps {
			return &p.Cells[i]
		}
	}
	return nil
}

// Estimate is a figure of the cell's runs.
func (c *Cell) Estimate(m metrics.Metric) stats.Estimate {
	values := make([]float64, len(c.Runs))
	for i, r := range c.Runs {
		values[i] = m.Of(r.Summary)
	}
	return stats.EstimateOf(values)
}

// conditions identify a group.
type conditions struct {
	on, trace, cluster    string
	timeScale, traceScale float64
	tasks, warmup         int
	schedulers            int
}

func conditionsOf(r *results.Run) conditions {
	c := conditions{on: r.On, trace: r.Trace, timeScale: r.TimeScale, tasks: r.Info.Tasks, warmup: r.Info.Warmup,
		schedulers: r.Info.Schedulers}
	if r.QPS == 0 {
		c.traceScale = cmp.Or(r.Info.TraceScale, 1)
	}
	// Classes and task types are part of the conditions, whatever the policy. What came out of a
	// run.json can be written as JSON again, and maps are written in the order of their keys.
	text, _ := json.Marshal([]any{metrics.ClassesOf(r.Info), r.Info.Settings["class"], r.Info.Settings["task_type"]})
	c.cluster = string(text)
	return c
}

func (c conditions) title(nodes int) string {
	s := fmt.Sprintf("%s on %s: %d nodes, %d schedulers, %d tasks (%d to warm up)", c.trace, c.on, nodes, c.schedulers, c.tasks, c.warmup)
	if c.traceScale != 0 {
		s += fmt.Sprintf(", the trace's own times divided by %g", c.traceScale)
	}
	if c.timeScale != 1 {
		s += fmt.Sprintf(", time scale %g", c.timeScale)
	}
	return s
}

// Of sorts runs into groups, ordered by title.
func Of(runs []results.Run) []Group {
	byConditions := map[conditions][]*results.Run{}
	for i := range runs {
		c := conditionsOf(&runs[i])
		byConditions[c] = append(byConditions[c], &runs[i])
	}
	keys := slices.SortedFunc(maps.Keys(byConditions), func(a, b conditions) int {
		return cmp.Or(strings.Compare(a.trace, b.trace), strings.Compare(a.on, b.on), cmp.Compare(a.tasks, b.tasks),
			cmp.Compare(a.warmup, b.warmup),
			cmp.Compare(a.schedulers, b.schedulers), cmp.Compare(a.timeScale, b.timeScale), cmp.Compare(a.traceScale, b.traceScale),
			strings.Compare(a.cluster, b.cluster))
	})
	var groups []Group
	titles := map[string]int{}
	for _, key := range keys {
		members := byConditions[key]
		nodes := 0
		for _, c := range members[0].Info.Classes {
			nodes += c.Nodes
		}
		g := Group{Title: key.title(nodes), Runs: members, Policies: policiesOf(members)}
		titles[g.Title]++
		if n := titles[g.Title]; n > 1 {
			g.Title += fmt.Sprintf(" (other nodes or task types, %d)", n)
		}
		for _, r := range members {
			g.QPS = append(g.QPS, r.QPS)
		}
		slices.Sort(g.QPS)
		g.QPS = slices.Compact(g.QPS)
		groups = append(groups, g)
	}
	return groups
}

// policiesOf sorts the runs of a group into lines and cells.
func policiesOf(runs []*results.Run) []Policy {
	labels := labelsOf(runs)
	byLabel := map[string][]*results.Run{}
	for _, r := range runs {
		byLabel[labels[r]] = append(byLabel[labels[r]], r)
	}
	var policies []Policy
	for _, label := range slices.Sorted(maps.Keys(byLabel)) {
		p := Policy{Label: label}
		members := byLabel[label]
		slices.SortFunc(members, func(a, b *results.Run) int {
			return cmp.Or(cmp.Compare(a.QPS, b.QPS), cmp.Compare(a.Seed, b.Seed), strings.Compare(a.Name, b.Name))
		})
		for _, r := range members {
			if last := len(p.Cells) - 1; last < 0 || p.Cells[last].QPS != r.QPS {
				p.Cells = append(p.Cells, Cell{QPS: r.QPS})
			}
			cell := &p.Cells[len(p.Cells)-1]
			cell.Runs = append(cell.Runs, r)
		}
		policies = append(policies, p)
	}
	return policies
}
