package group

import (
	"fmt"

	"dodoor/report/metrics"
)

// tableColumns are the figures of the table that compares policies.
var tableColumns = []metrics.Metric{
	metrics.Throughput, metrics.MakespanMean, metrics.MakespanP50, metrics.MakespanP95, metrics.MakespanP99, metrics.QueueWaitMean,
	metrics.SchedulingMean.Named("sched."), metrics.ControlMessagesPerTask.Named("msgs/task"), metrics.RPCsPerTask,
	metrics.CoresUsed.Named("cores"),
}

// Legend explains the short names of the columns.
const Legend = "Mean, P50, P95 and P99 are of the makespan and, like the wait in queues, in trace time; sched. is the mean " +
	"scheduling latency on the wall clock; " +
	"msgs/task are control messages; cores is the share of all cores that running tasks had reserved. Figures are means over seeds; ± is " +
	"half the 95 % interval (Student's t), given for two seeds and more."

// Table is the table of a group as text: a row per QPS and policy.
func (g *Group) Table() (header []string, rows []Row) {
	header = []string{"QPS", "policy", "seeds", "complete"}
	for _, c := range tableColumns {
		header = append(header, c.Head())
	}
	for _, qps := range g.QPS {
		for _, l := range g.At(qps) {
			rows = append(rows, l.row(qps))
		}
	}
	return header, rows
}

// Row is a line of the table of a group.
type Row struct {
	Cells      []string
	Incomplete bool
}

func (l *Line) row(qps float64) Row {
	r := Row{Incomplete: !l.Cell.Complete()}
	seeds := map[uint64]bool{}
	done, tasks := 0, 0
	for _, run := range l.Cell.Runs {
		seeds[run.Seed] = true
		done, tasks = done+run.Completed, tasks+run.Tasks
	}
	rateCell := fmt.Sprintf("%g", qps)
	if qps == 0 {
		rateCell = "trace"
	}
	runs := fmt.Sprint(len(seeds))
	if len(seeds) != len(l.Cell.Runs) {
		runs += fmt.Sprintf(" (%d runs)", len(l.Cell.Runs))
	}
	r.Cells = []string{rateCell, l.Label, runs, fmt.Sprintf("%d of %d", done, tasks)}
	for _, c := range tableColumns {
		r.Cells = append(r.Cells, l.Cell.Estimate(c).String())
	}
	return r
}
