package campaign

import (
	"fmt"
	"slices"
)

// batches is the paper's sweep of b (Sec. 6.4).
func batches(o Options) Study {
	sizes := []float64{25, 50, 75, 100, 150}
	cell := func(b float64) Cell { return functions(o, "dodoor", 100, paperTasks).with(list("datastore.b", b)...) }
	least, most := cell(sizes[0]), cell(sizes[len(sizes)-1])
	table := &Table{Labels: []string{"b"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(viewAge, messages, schedP50, schedP95, schedMax),
		changeOf("Δ mean vs b = 150 (%)", mean))}
	for _, b := range sizes {
		table.Rows = append(table.Rows, row(cell(b), &most, exact(b)))
	}
	more := func(r *Results) float64 { return r.mean(least, messages) - r.mean(most, messages) }
	const published = 16_680
	return Study{
		Name: "batch", Title: "The batch size b", Question: "What do fresher views buy, and what do they cost? (FunctionBench, QPS 100, dodoor)",
		Parts: []Part{
			{Text: `Published: mean down by up to 7.1 % as b falls, 16,680 messages more at b = 25 than at b = 150, scheduling latency up to 31 ms. A push
goes to every scheduler once per b decisions: S/b messages per task. View age is how many placements, cluster-wide, the deciding
view did not contain. What a push costs here is the handler's time of one message.`},
			{Table: table, Plot: &Plot{Name: "batch", Title: "Batch size, FunctionBench, QPS 100", Caption: "Mean and P95 makespan of dodoor by batch size b",
				X: "b (decisions per push)", Metrics: []Metric{mean, p95}, Lines: []Line{line("dodoor", sizes, cell)}}},
		},
		Claims: []Claim{
			{"b = 25 against b = 150: mean makespan", "up to −7.1 %", versus(least, most, mean, -0.071)},
			{"b = 25 against b = 150: further messages", "16,680", func(r *Results) (string, string) {
				return number(more(r)), verdict(more(r) > published*(1-near) && more(r) < published*(1+near))
			}},
			{"Scheduling latency is worst with the smallest b", "31 ms at most", func(r *Results) (string, string) {
				values := r.means(cells(sizes, cell), schedMax)
				first, last := values[0], values[len(values)-1]
				return fmt.Sprintf("%s ms at b = 25, %s ms at b = 150", schedMax.text(first), schedMax.text(last)), verdict(worst(values) == 0 && first > last)
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
		c := functions(o, "dodoor", 100, paperTasks).with(list("score.alpha", alpha)...)
		c.Profile = asRun
		return c
	}
	faulty := func(alpha float64) Cell { return clean(alpha).with(drifts) }
	table := &Table{Labels: []string{"code", "α"}, Columns: slices.Concat(spreadOf(mean, p95, p99), changeOf("Δ P95 vs α = 0 (%)", p95))}
	kinds := []struct {
		name string
		cell func(float64) Cell
	}{{"clean", clean}, {"with the fault", faulty}}
	plot := &Plot{Name: "alpha", Title: "Score weight α, FunctionBench, QPS 100", Caption: "Mean and P95 makespan of dodoor by α, clean and with the prototype's fault",
		X: "α", Metrics: []Metric{mean, p95}}
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
	judge := func(cell func(float64) Cell) func(*Results) (string, string) {
		return func(r *Results) (string, string) {
			text, holds := trend(r, cell)
			return text, verdict(holds)
		}
	}
	return Study{
		Name: "alpha", Title: "The score weight α", Question: "Resource fit (α = 0) or queued duration (α = 1)? (FunctionBench, QPS 100, dodoor, b = 50, b_Δ = 4)",
		Parts: []Part{
			{Text: `Published: lower α gives tighter tails, α = 1 the worst. With the prototype's fault, a node's queued duration in the cache grows with
everything that was ever placed there and says less and less about the present; with exact accounting it is what is left to do.`},
			{Table: table, Plot: plot, Says: func(r *Results) string {
				without, _ := trend(r, clean)
				with, _ := trend(r, faulty)
				return fmt.Sprintf("Clean: %s. With the fault: %s.", without, with)
			}},
		},
		Claims: []Claim{
			{"α = 1 has the worst tail, with the fault", "yes", judge(faulty)},
			{"α = 1 has the worst tail, clean", "yes", judge(clean)},
		},
	}
}
