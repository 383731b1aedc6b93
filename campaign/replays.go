package campaign

import (
	"fmt"
	"slices"
)

// The policies of the paper's comparison, PoT first: changes are against it.
var comparedPolicies = []string{"pot", "dodoor", "prequal", "random"}

// grid is a table of loads and policies with changes against PoT, and a plot of the same.
func grid(o Options, name, title string, loads []float64, cell func(policy string, qps float64) Cell) Part {
	table := &Table{Labels: []string{"QPS", "policy"}, Columns: slices.Concat(spreadOf(throughput, mean, p95), meanOf(p99, control, schedP50, schedP95),
		changeOf("Δ tasks/s vs pot (%)", throughput), changeOf("Δ mean vs pot (%)", mean), changeOf("Δ P95 vs pot (%)", p95))}
	plot := &Plot{Name: name, Title: title, X: "arrivals per s (QPS)", Metrics: []Metric{mean, p95},
		Caption: title + ": mean and P95 makespan by load, four policies"}
	for _, qps := range loads {
		for _, policy := range comparedPolicies {
			pot := cell("pot", qps)
			table.Rows = append(table.Rows, row(cell(policy, qps), &pot, fmt.Sprintf("%g", qps), policy))
		}
	}
	for _, policy := range comparedPolicies {
		plot.Lines = append(plot.Lines, line(policy, loads, func(qps float64) Cell { return cell(policy, qps) }))
	}
	return Part{Table: table, Plot: plot}
}

// againstPot pairs dodoor with PoT at some loads.
func againstPot(loads []float64, cell func(policy string, qps float64) Cell) []pair {
	var pairs []pair
	for _, qps := range loads {
		pairs = append(pairs, pair{cell("dodoor", qps), cell("pot", qps)})
	}
	return pairs
}

// azure is the paper's first figure (Sec. 6.2).
func azure(o Options) Study {
	loads := []float64{1, 5, 10, 20}
	cell := func(policy string, qps float64) Cell { return machines(o, policy, qps) }
	pairs := againstPot(loads, cell)
	return Study{
		Name: "azure", Title: "Azure VM replay", Question: "How do the paper's policies compare on 4,000 VM requests at QPS 1 to 20?",
		Parts: []Part{
			{Text: `Published: throughput +5.9 … +33.2 %, mean makespan up to −14.8 % (−12.1 % in the abstract), P95 up to −21.9 %, at low load −0.5 % mean and
−1.3 % tail; messages −55 % against PoT and −66 % against Prequal, which are the batches that the authors ran ([above](#rerun)). Here
b and b_Δ are as printed in the paper. Requests live for minutes, so from QPS 5 on the cluster is far overloaded: makespans are then
queues that drain, and throughput is that of the whole replay, its tail included.`},
			grid(o, "azure", "Azure", loads, cell),
		},
		Claims: []Claim{
			{"Azure: throughput against PoT, at the best load", "+5.9 … +33.2 %", extreme(pairs, throughput, 0.332)},
			{"Azure: mean makespan against PoT, at the best load", "up to −14.8 %", extreme(pairs, mean, -0.148)},
			{"Azure: P95 makespan against PoT, at the best load", "up to −21.9 %", extreme(pairs, p95, -0.219)},
			{"Azure, low load (QPS 1): mean against PoT", "−0.5 %", versus(pairs[0].c, pairs[0].against, mean, -0.005)},
			{"Azure, low load (QPS 1): P95 against PoT", "−1.3 %", versus(pairs[0].c, pairs[0].against, p95, -0.013)},
		},
	}
}

// functionBench is the paper's second figure (Sec. 6.3).
func functionBench(o Options) Study {
	loads := []float64{100, 200, 300, 400}
	cell := func(policy string, qps float64) Cell { return functions(o, policy, qps, paperTasks) }
	pairs := againstPot(loads, cell)
	return Study{
		Name: "functionbench", Title: "FunctionBench", Question: "How do the paper's policies compare on 100,000 short functions at QPS 100 to 400?",
		Parts: []Part{
			{Text: `Published: QPS 100 −2.7 % mean and −2.0 % P95 against PoT; saturated, throughput up to +21.5 %, mean −7.2 %, P95 −24.6 %. QPS 100 is close
to what the cluster can do; 200 and more is overload, where queues grow for as long as tasks arrive.`},
			grid(o, "functionbench", "FunctionBench", loads, cell),
		},
		Claims: []Claim{
			{"FunctionBench, QPS 100: mean against PoT", "−2.7 %", versus(pairs[0].c, pairs[0].against, mean, -0.027)},
			{"FunctionBench, QPS 100: P95 against PoT", "−2.0 %", versus(pairs[0].c, pairs[0].against, p95, -0.020)},
			{"FunctionBench, saturated: throughput against PoT", "up to +21.5 %", extreme(pairs[1:], throughput, 0.215)},
			{"FunctionBench, saturated: mean against PoT", "up to −7.2 %", extreme(pairs[1:], mean, -0.072)},
			{"FunctionBench, saturated: P95 against PoT", "up to −24.6 %", extreme(pairs[1:], p95, -0.246)},
		},
	}
}
