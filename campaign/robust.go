package campaign

import (
	"fmt"
	"slices"
)

// sweep is a table and a plot over one setting, with changes against its first value.
func sweep(label, axis string, values []float64, policies []string, cell func(policy string, v float64) Cell) (*Table, []Line) {
	table := &Table{Labels: []string{label, "policy"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(control, viewAge),
		changeOf(fmt.Sprintf("Δ mean vs %s = %s (%%)", axis, exact(values[0])), mean))}
	for _, v := range values {
		for _, policy := range policies {
			first := cell(policy, values[0])
			table.Rows = append(table.Rows, row(cell(policy, v), &first, exact(v), policy))
		}
	}
	var lines []Line
	for _, policy := range policies {
		lines = append(lines, line(policy, values, func(v float64) Cell { return cell(policy, v) }))
	}
	return table, lines
}

// staleness lets views grow old.
func staleness(o Options) Study {
	sizes := []float64{25, 100, 400, 1600}
	cell := func(policy string, b float64) Cell {
		return functions(o, policy, 100, studyTasks).with(overrides("datastore.b", b)...)
	}
	table, lines := sweep("b", "b", sizes, []string{"dodoor", "cached-pot", "dodoor+"}, cell)
	return Study{
		Name: "staleness", Title: "Stale views", Question: "What if snapshots come once in sixteen times the number of nodes? (FunctionBench, " +
			"QPS 100, b_Δ = 8)",
		Parts: []Part{
			{Text: `A snapshot freezes the view until the next one: whoever looked empty gets everybody's tasks until then. ` + "`cached-pot`" +
				` compares numbers of tasks
where dodoor compares its score. dodoor+ counts its own placements and takes reports from messages that are sent anyway, so that
it needs snapshots for other schedulers' placements on foreign nodes alone.`, Table: table,
				Plot: &Plot{Name: "staleness", Title: "Stale views, FunctionBench, QPS 100",
					Caption: "Mean and P95 makespan by batch size b up to 1600",
					X:       "b (decisions per push)", LogX: true, Metrics: []Metric{mean, p95}, Lines: lines}},
		},
		Rules: []Rule{{"Stale views.", `
With b = 1600 instead of 25, the mean of dodoor is %s times as high, of cached-pot %s times, of dodoor+ %s times. For dodoor keep
b at the number of nodes or below; dodoor+ leaves b free to save messages.`, []Figure{
			timesOf(cell("dodoor", 1600), cell("dodoor", 25)), timesOf(cell("cached-pot", 1600), cell("cached-pot", 25)),
			timesOf(cell("dodoor+", 1600), cell("dodoor+", 25)),
		}}},
	}
}

// estimates gives schedulers wrong durations.
func estimates(o Options) Study {
	sigmas := []float64{0, 0.25, 0.5, 1}
	cell := func(policy string, sigma float64) Cell {
		return functions(o, policy, 80, studyTasks).with(overrides("worker.noise", sigma)...)
	}
	table, _ := sweep("σ", "σ", sigmas, []string{"pot", "dodoor", "dodoor+", "oracle"}, cell)
	return Study{
		Name: "estimates", Title: "Wrong estimates", Question: "What if tasks do not take as long as estimated? (FunctionBench, QPS 80)",
		Parts: []Part{{Text: `
True durations are the estimate times a lognormal factor exp(σZ − σ²/2), whose mean is 1: with σ = 1, a task in twenty takes more than
three times its estimate, and half of them less than two thirds. PoT uses no estimates; the oracle knows the true
durations.`, Table: table}},
		Rules: []Rule{{"Wrong estimates.", `
From σ = 0 to 1, the mean of PoT, which has no estimates, is %s times as high, of dodoor %s times, of dodoor+ %s times, of the
oracle %s times: compare with PoT to see what the estimates themselves cost.`, []Figure{
			timesOf(cell("pot", 1), cell("pot", 0)), timesOf(cell("dodoor", 1), cell("dodoor", 0)),
			timesOf(cell("dodoor+", 1), cell("dodoor+", 0)), timesOf(cell("oracle", 1), cell("oracle", 0)),
		}}},
	}
}

// bursts let arrivals come in bursts.
func bursts(o Options) Study {
	factors := []float64{1, 5}
	cell := func(policy string, factor float64) Cell {
		return functions(o, policy, 80, studyTasks).with(overrides("generator.burst", factor)...)
	}
	table, _ := sweep("burst", "burst", factors, []string{"pot", "prequal", "dodoor", "dodoor+", "oracle"}, cell)
	return Study{
		Name: "bursts", Title: "Bursty arrivals", Question: "What if tasks come in bursts, at the same mean rate? (FunctionBench, QPS 80)",
		Parts: []Part{{Text: `
A two-state Markov-modulated Poisson process: in busy phases tasks come at *burst* times the mean rate, in quiet ones at what is left of it
([configuration](configuration.md#generator)); 1 is plain Poisson, as everywhere else on this page.`, Table: table}},
		Rules: []Rule{{"Bursts.", `
With bursts of %s times the rate, the mean of PoT is %s times as high, of Prequal %s times, of dodoor %s times, of dodoor+ %s times, of
the oracle %s times.`, []Figure{
			func(*Results) string { return exact(factors[len(factors)-1]) },
			timesOf(cell("pot", 5), cell("pot", 1)), timesOf(cell("prequal", 5), cell("prequal", 1)), timesOf(cell("dodoor", 5), cell("dodoor", 1)),
			timesOf(cell("dodoor+", 5), cell("dodoor+", 1)), timesOf(cell("oracle", 5), cell("oracle", 1)),
		}}},
	}
}

// skew sends more to one scheduler than to the others.
func skew(o Options) Study {
	shares := []float64{0, 0.6, 1}
	cell := func(policy string, share float64) Cell {
		return functions(o, policy, 100, studyTasks).with(overrides("sim.skew", share)...)
	}
	table, _ := sweep("share", "share", shares, []string{"dodoor", "dodoor+", "partition", "pot"}, cell)
	return Study{
		Name: "skew", Title: "Uneven load", Question: "What if one scheduler of five gets most of the load? (FunctionBench, QPS 100)",
		Parts: []Part{{Text: `
The share that goes to the first scheduler; the others take the rest in turn, and 0 is in turn over all five. A scheduler
sees what it placed itself when a snapshot brings it back, unless it counts it, as dodoor+ and ` + "`partition`" +
			` do; the latter never leaves
its home nodes.`, Table: table}},
		Rules: []Rule{{"Uneven load.",
			`With everything at one scheduler, the mean of dodoor is %s times as high as with even load, of dodoor+ %s times, of ` + "`partition`" +
				`
%s times: nodes must not belong to schedulers exclusively.`, []Figure{
				timesOf(cell("dodoor", 1), cell("dodoor", 0)), timesOf(cell("dodoor+", 1), cell("dodoor+", 0)),
				timesOf(cell("partition", 1), cell("partition", 0)),
			}}},
	}
}
