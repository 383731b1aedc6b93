package campaign

import (
	"fmt"
	"math"
	"slices"
)

// batches is the paper's sweep of b (Sec. 6.4).
func batches(o Options) Study {
	sizes := []float64{25, 50, 75, 100, 150}
	cell := func(b float64) Cell {
		return functions(o, "dodoor", 100, paperTasks).with(overrides("datastore.b", b)...)
	}
	least, most := cell(sizes[0]), cell(sizes[len(sizes)-1])
	table := &Table{Labels: []string{"b"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(viewAge, messages, schedP50, schedP95, schedMax),
		changeOf("Δ mean vs b = 150 (%)", mean))}
	for _, b := range sizes {
		table.Rows = append(table.Rows, row(cell(b), &most, exact(b)))
	}
	more := func(r *Results) float64 { return r.mean(least, messages) - r.mean(most, messages) }
	return Study{
		Name: "batch", Title: "The batch size b", Question: "What do fresher views buy, and what do they cost? (FunctionBench, QPS 100, dodoor)",
		Parts: []Part{
			{Text: fmt.Sprintf(`
Published: mean down by up to %s %% as b falls, %s messages when b is smallest, which is read as more than at the largest b, and
scheduling latency up to %d ms. A push goes to every scheduler once per b decisions: S/b messages per task. View age is how many placements,
cluster-wide, the deciding view did not contain. What a push costs here is the handler's time of one message.`,
				percent(-publishedBatchMean), exact(publishedBatchMessages), publishedBatchLatencyMs)},
			{Table: table, Plot: &Plot{Name: "batch", Title: "Batch size, FunctionBench, QPS 100",
				Caption: "Mean and P95 makespan of dodoor by batch size b",
				X:       "b (decisions per push)", Metrics: []Metric{mean, p95}, Lines: []Line{line("dodoor", sizes, cell)}}},
		},
		Claims: []Claim{
			{fmt.Sprintf("b = %g against b = %g: mean makespan", sizes[0], sizes[len(sizes)-1]), percent(publishedBatchMean) + " %",
				versus(pair{least, most}, mean, publishedBatchMean)},
			{fmt.Sprintf("b = %g against b = %g: further messages", sizes[0], sizes[len(sizes)-1]), exact(publishedBatchMessages),
				func(r *Results) Judgement {
					j := Judgement{number(more(r)), sameWay, unlike, larger(more(r), publishedBatchMessages)}
					if math.Abs(more(r)/publishedBatchMessages-1) <= near {
						j.Size, j.Larger = alike, neither
					}
					return j
				}},
			{"Scheduling latency is worst with the smallest b", fmt.Sprintf("%d ms at most", publishedBatchLatencyMs), func(r *Results) Judgement {
				values := r.means(cells(sizes, cell), schedMax)
				first, last := values[0], values[len(values)-1]
				return holds(fmt.Sprintf("%s ms at b = %g, %s ms at b = %g", schedMax.text(first), sizes[0], schedMax.text(last), sizes[len(sizes)-1]),
					worst(values) == 0 && first > last)
			}},
		},
	}
}

func cells(values []float64, cell func(float64) Cell) []Cell {
	var all []Cell
	for _, v := range values {
		all = append(all, cell(v))
	}
	return all
}

// alphas is the paper's sweep of α (Sec. 6.4), clean and with the prototype's fault.
func alphas(o Options) Study {
	weights := []float64{0, 0.25, 0.5, 0.75, 1}
	clean := func(alpha float64) Cell {
		c := functions(o, "dodoor", 100, paperTasks).with(overrides("score.alpha", alpha)...)
		c.Profile = asRun
		return c
	}
	faulty := func(alpha float64) Cell { return clean(alpha).with(quirks(drifts)...) }
	table := &Table{Labels: []string{"code", "α"}, Columns: slices.Concat(spreadOf(mean, p95, p99), changeOf("Δ P95 vs α = 0 (%)", p95))}
	kinds := []struct {
		name string
		cell func(float64) Cell
	}{{"clean", clean}, {"with the fault", faulty}}
	plot := &Plot{Name: "alpha", Title: "Score weight α, FunctionBench, QPS 100",
		Caption: "Mean and P95 makespan of dodoor by α, clean and with the prototype's fault",
		X:       "α", Metrics: []Metric{mean, p95}}
	for _, k := range kinds {
		for _, alpha := range weights {
			zero := k.cell(0)
			table.Rows = append(table.Rows, row(k.cell(alpha), &zero, k.name, exact(alpha)))
		}
		plot.Lines = append(plot.Lines, line(k.name, weights, k.cell))
	}
	trend := func(r *Results, cell func(float64) Cell) (string, bool) {
		tails := r.means(cells(weights, cell), p95)
		return fmt.Sprintf("best α = %g, worst α = %g by P95", weights[best(tails)], weights[worst(tails)]), worst(tails) == len(weights)-1
	}
	tail := func(cell func(float64) Cell) func(*Results) Judgement {
		return func(r *Results) Judgement { return holds(trend(r, cell)) }
	}
	return Study{
		Name: "alpha", Title: "The score weight α", Question: "Resource fit (α = 0) or queued duration (α = 1)? (FunctionBench, QPS 100, " +
			"dodoor, b = 50, b_Δ = 4)",
		Parts: []Part{
			{Text: `
Published: lower α gives tighter tails, α = 1 the worst. With the prototype's fault, a node's queued duration in the cache grows with
everything that was ever placed there and says less and less about the present; with exact accounting it is what is left to do.`},
			{Table: table, Plot: plot, Says: func(r *Results) string {
				without, _ := trend(r, clean)
				with, _ := trend(r, faulty)
				return fmt.Sprintf("Clean: %s. With the fault: %s.", without, with)
			}},
			readings(o),
		},
		Claims: []Claim{
			{"α = 1 has the worst tail, with the fault", "yes", tail(faulty)},
			{"α = 1 has the worst tail, clean", "yes", tail(clean)},
		},
	}
}

// readings compares the readings of Eq. 1.
func readings(o Options) Part {
	const moderate = 2 // QPS of the Azure replay
	table := &Table{Labels: []string{"trace", "score.kind"}, Columns: slices.Concat(spreadOf(throughput, mean, p95), meanOf(used),
		changeOf("Δ mean vs per-dimension (%)", mean), changeOf("Δ P95 vs per-dimension (%)", p95))}
	traces := []struct {
		name string
		cell Cell
	}{
		{"FunctionBench, QPS 100", functions(o, "dodoor", 100, studyTasks)},
		{"FunctionBench, QPS 400", functions(o, "dodoor", 400, studyTasks)},
		{fmt.Sprintf("Azure, QPS %d", moderate), machines(o, "dodoor", moderate)},
		{"Azure, QPS 20", machines(o, "dodoor", 20)},
	}
	for _, trace := range traces {
		for _, kind := range []string{"per-dimension", "norm", "raw"} {
			authors := trace.cell.with(overrides("score.kind", "per-dimension")...)
			table.Rows = append(table.Rows, row(trace.cell.with(overrides("score.kind", kind)...), &authors, trace.name, "`"+kind+"`"))
		}
	}
	return Part{Text: `**Eq. 1 as printed.** Its units are not stated. The authors' code takes the mean over dimensions of r·L/C² (` +
		"`per-dimension`" + `); ` + "`norm`" + ` is the
printed formula with every dimension relative to the cluster's largest capacity; ` + "`raw`" +
		` is the printed formula in cores and megabytes, in which
memory has numbers thousands of times as large as cores.`, Table: table}
}
