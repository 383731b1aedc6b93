package campaign

import (
	"fmt"
	"slices"

	"dodoor/report/metrics"
)

// capacity asks who can use the whole cluster, and what keeps the others from it.
func capacity(o Options) Study {
	const beyond = 400 // QPS, far more than the cluster can do
	saturated := func(policy string) Cell { return functions(o, policy, beyond, studyTasks) }
	names := testbed.classes()
	slowest, fastest, spread := testbed.speeds()
	var usedByClass, idleByClass []Metric
	for _, class := range names {
		usedByClass, idleByClass = append(usedByClass, summed(metrics.CoresUsedBy(class))), append(idleByClass, summed(metrics.IdleAfter(class)))
	}

	policies := &Table{Labels: []string{"policy"}, Columns: slices.Concat(spreadOf(throughput),
		meanOf(append([]Metric{used}, usedByClass...)...),
		changeOf("Δ tasks/s vs pot (%)", throughput))}
	for _, policy := range []string{"random", "pot", "prequal", "dodoor", "ect", "dodoor+", "oracle"} {
		pot := saturated("pot")
		policies.Rows = append(policies.Rows, row(saturated(policy), &pot, policy))
	}

	weights := []float64{0, 0.25, 0.5, 0.75, 1}
	scored := func(qps, alpha float64, weighted bool) Cell {
		return functions(o, "dodoor", qps, studyTasks).with(overrides("score.alpha", alpha, "score.weighted", weighted)...)
	}
	sampling := &Table{Labels: []string{"QPS", "candidates", "α"}, Columns: slices.Concat(spreadOf(throughput, mean, p95),
		meanOf(append([]Metric{used}, usedByClass...)...), changeOf("Δ tasks/s vs α = 0 (%)", throughput))}
	draws := map[bool]string{false: "uniform", true: "by capacity"}
	for _, qps := range []float64{60, 100, beyond} {
		for _, weighted := range []bool{false, true} {
			for _, alpha := range weights {
				zero := scored(qps, weights[0], weighted)
				sampling.Rows = append(sampling.Rows, row(scored(qps, alpha, weighted), &zero, exact(qps), draws[weighted], exact(alpha)))
			}
		}
	}
	pair := saturated("dodoor+").with(overrides("dodoor_plus.home", false, "dodoor_plus.foreign", 2, "dodoor_plus.adaptive", false,
		"dodoor_plus.weighted", false, "dodoor_plus.view", "snapshot")...)

	even := testbed.equalDurations(names[1])
	speeds := &Table{Labels: []string{"policy", "durations"},
		Columns: slices.Concat(spreadOf(throughput), meanOf(used), meanOf(idleByClass...),
			changeOf("Δ tasks/s vs as measured (%)", throughput))}
	rivals := []struct {
		name string
		cell Cell
	}{
		{"pot", saturated("pot")}, {"dodoor, α = 0", scored(beyond, 0, false)}, {"dodoor, α = 0.5", scored(beyond, 0.5, false)},
		{"dodoor, α = 1", scored(beyond, 1, false)}, {"completion time, two uniform candidates", pair},
	}
	for _, rival := range rivals {
		measured := rival.cell
		speeds.Rows = append(speeds.Rows, row(measured, &measured, rival.name, "as measured"),
			row(measured.with(even...), &measured, rival.name, "equal"))
	}

	half, full, blind := scored(beyond, 0.5, false), scored(beyond, 1, false), scored(beyond, 0, false)
	value := func(c Cell, m Metric) func(*Results) string {
		return func(r *Results) string { return m.text(r.mean(c, m)) }
	}
	return Study{
		Name: "capacity", Title: "Capacity", Question: fmt.Sprintf("Who uses the whole cluster, and what keeps the others from it? "+
			"(FunctionBench, QPS %d)", beyond),
		Parts: []Part{
			{Text: "Far beyond what the cluster can do: cores in use from the first arrival to the last completion, in the cluster and by class.",
				Table: policies},
			{Text: "**Sampling or score?** dodoor with its weight α and its candidates drawn uniformly, as printed, or in proportion to capacity " +
				"(`score.weighted`).",
				Table: sampling, Says: func(r *Results) string {
					return fmt.Sprintf("At QPS %d and uniform candidates, α = 0, 0.5 and 1 use %s, %s and %s %% of the cores; with candidates by "+
						"capacity %s, %s and %s %%. "+
						"Two uniform candidates compared by completion time use %s %%.", beyond, value(blind, used)(r), value(half, used)(r),
						value(full, used)(r),
						value(scored(beyond, 0, true), used)(r), value(scored(beyond, 0.5, true), used)(r), value(scored(beyond, 1, true), used)(r),
						value(pair, used)(r))
				}},
			{Text: fmt.Sprintf(`
**Why resource fit costs capacity.** The hypothesis: large tasks ask for half of a node, whichever it is, so that resource fit, like PoT's
count, says how many tasks a node has, and not how long they take. But the longest of them takes %s times as long on %s as on %s:
nodes with equally many tasks differ as much in work, and the slow class is still busy when the fast ones have run dry. The test: the same
runs, with every task as long on all classes as on %s. Shown are the last completions by class, after the first arrival.`,
				decimal(spread, 1), slowest, fastest, names[1]),
				Table: speeds, Says: func(r *Results) string {
					gap := func(c Cell) string { return percent(r.change(c, full, used).Mean) }
					return fmt.Sprintf("Against α = 1, the cores in use change by %s %% at α = 0.5 and by %s %% at α = 0; with equal durations by %s "+
						"and %s %%.", gap(half),
						gap(blind),
						percent(r.change(half.with(even...), full.with(even...), used).Mean),
						percent(r.change(blind.with(even...), full.with(even...), used).Mean))
				}},
		},
		Rules: []Rule{{"More load than the cluster can take.", `
dodoor uses %s %% of the cores until everything is done, with α = 1 %s %%, PoT %s %%, dodoor+ %s %%, the
oracle %s %%. Compare times, not tasks or shares of nodes; how candidates are drawn matters less (α = 0.5 by capacity: %s %%).`, []Figure{
			valueOf(saturated("dodoor"), used), valueOf(full, used), valueOf(saturated("pot"), used), valueOf(saturated("dodoor+"), used),
			valueOf(saturated("oracle"), used), valueOf(scored(beyond, 0.5, true), used),
		}}},
	}
}
