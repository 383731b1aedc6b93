package campaign

import (
	"fmt"
	"slices"
)

// The policies of the paper's comparison, PoT first: changes are against it.
var comparedPolicies = []string{"pot", "dodoor", "prequal", "random"}

// grid is a table of loads and policies with changes against PoT, and a plot of the same.
func grid(o Options, name, title string, loads []float64, cell func(policy string, qps float64) Cell) Part {
	table := &Table{Labels: []string{"QPS", "policy"}, Columns: slices.Concat(spreadOf(throughput, mean, p95),
		meanOf(p99, control, schedP50, schedP95),
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

// against pairs dodoor with a baseline at some loads.
func against(baseline string, loads []float64, cell func(policy string, qps float64) Cell) []pair {
	var pairs []pair
	for _, qps := range loads {
		pairs = append(pairs, pair{cell("dodoor", qps), cell(baseline, qps)})
	}
	return pairs
}

// baselines are those of the paper's claims, with their names on the page.
var claimedOver = []struct{ policy, name string }{{"pot", "PoT"}, {"prequal", "Prequal"}}

// profiled are the σ of estimates that are off as measured profiles are: the least and the largest coefficient of
// variation that dodoor profile finds (functionbench/README.md).
var profiled = []float64{0.1, 0.25}

// blurred repeats a grid with estimates that are off, without random, which uses none.
func blurred(loads []float64, cell func(policy string, qps float64) Cell) Part {
	table := &Table{Labels: []string{"σ", "QPS", "policy"}, Columns: slices.Concat(spreadOf(throughput, mean, p95),
		changeOf("Δ tasks/s vs pot (%)", throughput), changeOf("Δ mean vs pot (%)", mean), changeOf("Δ P95 vs pot (%)", p95))}
	for _, sigma := range profiled {
		for _, qps := range loads {
			for _, policy := range comparedPolicies[:len(comparedPolicies)-1] {
				off := func(policy string) Cell { return cell(policy, qps).with(overrides("worker.noise", sigma)...) }
				pot := off("pot")
				table.Rows = append(table.Rows, row(off(policy), &pot, exact(sigma), exact(qps), policy))
			}
		}
	}
	return Part{Text: `
**Estimates that are off.** Above, tasks take as long as estimated, which is kind to policies that read estimates. Here the true durations
are the estimate times a lognormal factor of mean 1, with the spread that ` + "`dodoor profile`" + ` measures between runs of one task.`,
		Table: table}
}

// azure is the paper's first figure (Sec. 6.2).
func azure(o Options) Study {
	loads := []float64{1, 5, 10, 20}
	cell := func(policy string, qps float64) Cell { return machines(o, policy, qps) }
	s := Study{
		Name: "azure", Title: "Azure VM replay", Question: fmt.Sprintf("How do the paper's policies compare on %s VM requests at QPS %g to %g?",
			exact(azureTasks), loads[0], loads[len(loads)-1]),
		Parts: []Part{
			{Text: fmt.Sprintf(`
Published: throughput %s … %s %%, mean makespan up to %s %% (%s %% in the abstract), P95 up to %s %%, at low load %s %% mean and
%s %% tail; messages %s %% against PoT and %s %% against Prequal, which are the batches that the authors ran ([above](#rerun)). Here
b and b_Δ are as printed in the paper. Requests live for minutes, so from QPS %g on the cluster is far overloaded: makespans are then
queues that drain, and throughput is that of the whole replay, its tail included.`, percent(publishedAzureRateLeast),
				percent(publishedAzureRateMost),
				percent(publishedAzureMean), percent(publishedAzureMeanAbstract), percent(publishedAzureTail), percent(publishedAzureLowMean),
				percent(publishedAzureLowTail), percent(publishedFewerThanPot), percent(publishedFewerThanPrequal), loads[1])},
			grid(o, "azure", "Azure", loads, cell), blurred(loads, cell),
		},
	}
	for _, b := range claimedOver {
		pairs := against(b.policy, loads, cell)
		s.Claims = append(s.Claims,
			Claim{"Azure: throughput against " + b.name + ", the most of all loads", percent(publishedAzureRateMost) + " %",
				most(pairs, throughput, publishedAzureRateLeast, publishedAzureRateMost)},
			Claim{"Azure: throughput against " + b.name + ", the least of all loads", percent(publishedAzureRateLeast) + " %",
				least(pairs, throughput, publishedAzureRateLeast, publishedAzureRateMost)},
			Claim{"Azure: mean makespan against " + b.name + ", best load (Sec. 6.2)", percent(publishedAzureMean) + " %",
				atBest(pairs, mean, publishedAzureMean)},
			Claim{"Azure: mean makespan against " + b.name + ", best load (abstract)", percent(publishedAzureMeanAbstract) + " %",
				atBest(pairs, mean, publishedAzureMeanAbstract)},
			Claim{"Azure: P95 makespan against " + b.name + ", best load", percent(publishedAzureTail) + " %",
				atBest(pairs, p95, publishedAzureTail)},
			Claim{"Azure, lowest load: mean against " + b.name, percent(publishedAzureLowMean) + " %",
				versus(pairs[0], mean, publishedAzureLowMean)},
			Claim{"Azure, lowest load: P95 against " + b.name, percent(publishedAzureLowTail) + " %", versus(pairs[0], p95, publishedAzureLowTail)})
	}
	return s
}

// functionBench is the paper's second figure (Sec. 6.3).
func functionBench(o Options) Study {
	loads := []float64{100, 200, 300, 400}
	cell := func(policy string, qps float64) Cell { return functions(o, policy, qps, paperTasks) }
	s := Study{
		Name: "functionbench", Title: "FunctionBench", Question: fmt.Sprintf("How do the paper's policies compare on %s short functions at QPS "+
			"%g to %g?",
			exact(paperTasks), loads[0], loads[len(loads)-1]),
		Parts: []Part{
			{Text: fmt.Sprintf(`
Published: QPS %g %s %% mean and %s %% P95 against PoT; saturated, throughput up to %s %%, mean %s %%, P95 %s %%. QPS %g is close
to what the cluster can do; %g and more is overload, where queues grow for as long as tasks arrive.`, loads[0],
				percent(publishedBenchLowMean),
				percent(publishedBenchLowTail), percent(publishedBenchRate), percent(publishedBenchMean), percent(publishedBenchTail), loads[0],
				loads[1])},
			grid(o, "functionbench", "FunctionBench", loads, cell), blurred([]float64{loads[0], loads[len(loads)-1]}, cell),
		},
	}
	lowest := fmt.Sprintf("FunctionBench, QPS %g: ", loads[0])
	for _, b := range claimedOver {
		pairs := against(b.policy, loads, cell)
		if b.policy == "pot" { // Sec. 6.3 gives figures against PoT alone; the abstract claims a gain over all baselines
			s.Claims = append(s.Claims,
				Claim{lowest + "mean against " + b.name, percent(publishedBenchLowMean) + " %", versus(pairs[0], mean, publishedBenchLowMean)},
				Claim{lowest + "P95 against " + b.name, percent(publishedBenchLowTail) + " %", versus(pairs[0], p95, publishedBenchLowTail)})
		} else {
			s.Claims = append(s.Claims,
				Claim{lowest + "mean against " + b.name, gain, better(pairs[0], mean)},
				Claim{lowest + "P95 against " + b.name, gain, better(pairs[0], p95)})
		}
		s.Claims = append(s.Claims,
			Claim{"FunctionBench, saturated: throughput against " + b.name + ", best load", percent(publishedBenchRate) + " %",
				atBest(pairs[1:], throughput, publishedBenchRate)},
			Claim{"FunctionBench, saturated: mean against " + b.name + ", best load", percent(publishedBenchMean) + " %",
				atBest(pairs[1:], mean, publishedBenchMean)},
			Claim{"FunctionBench, saturated: P95 against " + b.name + ", best load", percent(publishedBenchTail) + " %",
				atBest(pairs[1:], p95, publishedBenchTail)})
	}
	return s
}
