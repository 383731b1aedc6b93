package report

import (
	"fmt"
	"strings"
)

// tableColumns are the figures of the table that compares policies.
var tableColumns = []struct {
	name string
	of   func(*Summary) float64
}{
	{"tasks/s", func(s *Summary) float64 { return s.ThroughputPerS }},
	{"mean (s)", func(s *Summary) float64 { return s.MakespanS.Mean }},
	{"P50 (s)", func(s *Summary) float64 { return s.MakespanS.P50 }},
	{"P95 (s)", func(s *Summary) float64 { return s.MakespanS.P95 }},
	{"P99 (s)", func(s *Summary) float64 { return s.MakespanS.P99 }},
	{"wait (s)", func(s *Summary) float64 { return s.QueueWaitS.Mean }},
	{"sched. (ms)", func(s *Summary) float64 { return s.SchedulingMs.Mean }},
	{"msgs/task", func(s *Summary) float64 { return s.ControlMessagesPerTask }},
	{"RPCs/task", func(s *Summary) float64 { return s.RPCsPerTask }},
	{"cores (%)", func(s *Summary) float64 { return 100 * s.Utilisation.Cores }},
}

// tableLegend explains the short names of the columns.
const tableLegend = "Mean, P50, P95 and P99 are of the makespan and, like the wait in queues, in trace time; sched. is the mean scheduling latency on the wall clock; " +
	"msgs/task are control messages; cores is the share of all cores that running tasks had reserved. Figures are means over seeds; ± is half the 95 % interval (Student's t), given for two seeds and more."

// table is the table of a group as text: a row per QPS and policy.
func (g *Group) table() (header []string, rows []tableRow) {
	header = []string{"QPS", "policy", "seeds", "complete"}
	for _, c := range tableColumns {
		header = append(header, c.name)
	}
	for _, qps := range g.QPS {
		for _, l := range g.linesAt(qps) {
			rows = append(rows, l.row(qps))
		}
	}
	return header, rows
}

type tableRow struct {
	Cells      []string
	Incomplete bool
}

func (l *line) row(qps float64) tableRow {
	r := tableRow{Incomplete: !l.cell.Complete()}
	seeds := map[uint64]bool{}
	done, tasks := 0, 0
	for _, run := range l.cell.Runs {
		seeds[run.Seed] = true
		done, tasks = done+run.Completed, tasks+run.Tasks
	}
	rateCell := fmt.Sprintf("%g", qps)
	if qps == 0 {
		rateCell = "trace"
	}
	runs := fmt.Sprint(len(seeds))
	if len(seeds) != len(l.cell.Runs) {
		runs += fmt.Sprintf(" (%d runs)", len(l.cell.Runs))
	}
	r.Cells = []string{rateCell, l.label, runs, fmt.Sprintf("%d of %d", done, tasks)}
	for _, c := range tableColumns {
		r.Cells = append(r.Cells, l.cell.Estimate(c.of).String())
	}
	return r
}

// String is mean ± half the interval, with as many decimals as the mean can bear.
func (e Estimate) String() string {
	decimals := 3
	switch {
	case e.Mean >= 1000:
		decimals = 0
	case e.Mean >= 100:
		decimals = 1
	case e.Mean >= 1:
		decimals = 2
	}
	if e.N < 2 {
		return fmt.Sprintf("%.*f", decimals, e.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, e.Mean, decimals, e.Half)
}

// markdown writes a table; a bar in a cell would end it.
func markdown(b *strings.Builder, header []string, rows []tableRow) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(header)
	b.WriteString("|---:|---|" + strings.Repeat("---:|", len(header)-2) + "\n")
	for _, r := range rows {
		line(r.Cells)
	}
}
