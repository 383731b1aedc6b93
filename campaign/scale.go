package campaign

import (
	"fmt"
	"slices"
	"time"
)

// paperWorkers are the nodes of the paper's cluster by class.
var paperWorkers = []struct {
	class string
	count int
}{{"m510", 40}, {"xl170", 25}, {"c6525-25g", 18}, {"c6620", 17}}

const (
	ratePerWorker = 0.8 // FunctionBench arrivals per second and worker
	dataHandlers  = 8
	moreHandlers  = 64
	messageCost   = 200 * time.Microsecond
	deltaBatch    = 8
)

// size is a cluster of the paper's mix, and how long it is watched.
type size struct {
	workers, tasks int
}

// scale grows the paper's cluster.
func scale(o Options) Study {
	sizes := []size{{100, 20_000}, {1000, 100_000}, {10_000, 300_000}, {100_000, 1_000_000}}
	if o.Quick {
		sizes = sizes[:2]
	}
	cell := func(policy string, s size) Cell {
		n := o.tasks(s.tasks)
		c := functions(o, policy, ratePerWorker*float64(s.workers), s.tasks).with(overrides("datastore.b", s.workers, "generator.warmup", n/5)...)
		for _, w := range paperWorkers {
			c = c.with(overrides("class."+w.class+".count", w.count*s.workers/100)...)
		}
		if s.workers >= 10_000 {
			c.Seeds = 1
		}
		c.Large = s.workers >= 100_000
		return c
	}
	largest := sizes[len(sizes)-1]
	policies := []string{"dodoor", "dodoor+", "pot"}

	figures := slices.Concat(spreadOf(mean, p95), meanOf(schedP95, control, viewAge))
	grown := &Table{Labels: []string{"workers", "QPS", "tasks", "policy"}, Columns: figures}
	speed := &Table{Labels: []string{"workers", "policy"}, Columns: []Column{
		{"seconds per run", func(r *Results, row *Row) string { each, _ := r.took(row.Cell); return decimal(each.Seconds(), 1) }},
		{"million events/s", func(r *Results, row *Row) string { _, rate := r.took(row.Cell); return decimal(rate/1e6, 2) }},
	}}
	for _, s := range sizes {
		for _, policy := range policies {
			c := cell(policy, s)
			grown.Rows = append(grown.Rows, row(c, nil, exact(float64(s.workers)), exact(c.QPS), exact(float64(c.N)), policy))
			speed.Rows = append(speed.Rows, row(c, nil, exact(float64(s.workers)), policy))
		}
	}
	narrow := cell("dodoor", largest)
	relieved := narrow.with(overrides("datastore.max_rpcs", moreHandlers)...)
	relief := &Table{Labels: []string{"policy", "datastore.max_rpcs"}, Columns: slices.Concat(figures, changeOf("Δ mean (%)", mean)),
		Rows: []Row{row(narrow, &narrow, "dodoor", fmt.Sprint(dataHandlers)), row(relieved, &narrow, "dodoor", fmt.Sprint(moreHandlers))}}
	plot := &Plot{Name: "scale", Title: "Size of the cluster", Caption: "Mean and P95 makespan by number of workers, same load per worker",
		X: "workers", LogX: true, Metrics: []Metric{mean, p95}}
	for _, policy := range policies {
		l := Line{Label: policy}
		for _, s := range sizes {
			l.X, l.Cells = append(l.X, float64(s.workers)), append(l.Cells, cell(policy, s))
		}
		plot.Lines = append(plot.Lines, l)
	}

	capacity := dataHandlers / messageCost.Seconds()
	perTask := 1 + 1.0/deltaBatch
	return Study{
		Name: "scale", Title: "Scale", Question: "What happens from 100 to 100,000 workers, with 5 schedulers and one data service?",
		Parts: []Part{
			{Text: fmt.Sprintf(`
The paper's mix of classes times ten, a hundred and a thousand; b is the number of workers, the load per worker the same (FunctionBench,
QPS %g per worker). The larger the cluster the shorter the time that the tasks cover, down to seconds, so larger clusters are closer to
their start, when queues are short; the first fifth of the tasks is warm-up. From 10,000 workers on there is one seed.`, ratePerWorker),
				Table: grown, Plot: plot},
			{Text: fmt.Sprintf(`
**What saturates.** Workers report every completion, and after every second without one; schedulers flush every %d placements. So the
data service handles %g messages per task, and up to one per worker and second: at this load between %s and %s per worker and second. With
%d handlers and %v per message it manages %s per second, enough for %s workers, or for %s if all are busy. Beyond, its line grows
for as long as the load lasts, and views age with it; policies that ask workers do not notice. (No node times out here: a real data service
would take those for gone whose reports wait for longer than node_timeout.) The largest cluster again, with %d handlers at the data
service and nothing else changed:`, deltaBatch, perTask, exact(ratePerWorker*perTask), exact(ratePerWorker*perTask+1), dataHandlers,
				messageCost, number(capacity),
				number(capacity/(ratePerWorker*perTask+1)), number(capacity/(ratePerWorker*perTask)), moreHandlers), Table: relief},
			{Text: `**How long it takes.** The simulator on this machine, other runs beside it. 100,000 workers need several gigabytes.`,
				Table: speed},
		},
		Rules: []Rule{{"Size.", fmt.Sprintf(`
The data service breaks first: at %s workers, %d instead of %d handlers change the mean of dodoor by %%s. Count (1 + 1/b_Δ) messages
per task and n/heartbeat per second against handlers over cost, and raise datastore.max_rpcs or worker.heartbeat.`,
			exact(float64(largest.workers)), moreHandlers, dataHandlers), []Figure{shiftOf(relieved, narrow)}}},
	}
}

// replicas varies the number of schedulers.
func replicas(o Options) Study {
	counts := []float64{5, 10, 20, 50, 100}
	policies := []string{"dodoor", "dodoor+", "pot"}
	batch := func(s float64) int { return max(1, min(deltaBatch, int(2*100/s))) }
	cell := func(policy string, s float64) Cell {
		return functions(o, policy, 100, studyTasks).with(overrides("scheduler.replicas", s, "scheduler.b_delta", batch(s))...)
	}
	table := &Table{Labels: []string{"S", "b_Δ", "policy"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(control, viewAge),
		changeOf("Δ mean vs S = 5 (%)", mean))}
	for _, s := range counts {
		for _, policy := range policies {
			five := cell(policy, counts[0])
			table.Rows = append(table.Rows, row(cell(policy, s), &five, exact(s), fmt.Sprint(batch(s)), policy))
		}
	}
	return Study{
		Name: "schedulers", Title: "Number of schedulers", Question: "What do more schedulers cost? (FunctionBench, QPS 100)",
		Parts: []Part{{Text: `
b_Δ follows the paper's rule, at most 2b/S and 8. The more schedulers, the less of what was placed lately is a scheduler's own, and the
fewer home nodes each has: with 100 schedulers it is one node. Control messages per task are 1 + 1/b_Δ + S/b.`, Table: table}},
		Rules: []Rule{{"Many schedulers.", `
With 100 schedulers instead of 5, the mean of dodoor+ changes by %s, of dodoor by %s; they send %s and %s control messages per
task. Use as few schedulers as carry the load, and raise b with S.`, []Figure{
			shiftOf(cell("dodoor+", 100), cell("dodoor+", 5)), shiftOf(cell("dodoor", 100), cell("dodoor", 5)),
			valueOf(cell("dodoor+", 100), control), valueOf(cell("dodoor", 100), control),
		}}},
	}
}
