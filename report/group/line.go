package group

import (
	"fmt"
	"slices"
	"strings"

	"dodoor/report/results"
)

// IncompleteMark flags runs in which not every task finished, wherever they appear.
const IncompleteMark = "INCOMPLETE"

// Line is one policy in the figures of one QPS.
type Line struct {
	Label string
	Style int // the same in all figures of a group
	Cell  *Cell
}

// First is the run whose course over time is shown: one run has a course, several do not.
func (l *Line) First() *results.Run { return l.Cell.Runs[0] }

// At lists the policies that ran at the given QPS.
func (g *Group) At(qps float64) []Line {
	var lines []Line
	for i := range g.Policies {
		if c := g.Policies[i].At(qps); c != nil {
			lines = append(lines, Line{marked(g.Policies[i].Label, c.Complete()), i, c})
		}
	}
	return lines
}

// Shown is the policy's name in a legend of all its cells.
func (p *Policy) Shown() string {
	return marked(p.Label, !slices.ContainsFunc(p.Cells, func(c Cell) bool { return !c.Complete() }))
}

func marked(label string, complete bool) string {
	if complete {
		return label
	}
	return label + " " + IncompleteMark
}

// Rate names a load in titles.
func Rate(qps float64) string {
	if qps == 0 {
		return "the trace's own times"
	}
	return fmt.Sprintf("QPS %g", qps)
}

// Warning says which of the group's runs are incomplete, or nothing.
func (g *Group) Warning() string { return Warning(g.Runs) }

// Warning is drawn into every figure that an incomplete run is part of.
func Warning(runs []*results.Run) string {
	var names []string
	n := 0
	for _, r := range runs {
		if !r.Complete() {
			n++
			names = append(names, r.Policy)
		}
	}
	if n == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("%s: %d of %d runs (%s)", IncompleteMark, n, len(runs), strings.Join(slices.Compact(names), ", "))
}
