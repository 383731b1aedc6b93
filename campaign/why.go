package campaign

import (
	"fmt"
	"slices"
)

// probing asks what probes cost, what Prequal's latency estimate is worth, and who can use the whole cluster.
func probing(o Options) Study {
	at100 := func(policy string) Cell { return functions(o, policy, 100, studyTasks) }
	costs := []string{"0s", "200us", "1ms", "3ms"}
	priced := func(policy, cost string) Cell {
		return at100(policy).with(list("sim.scheduler_cost", cost, "sim.datastore_cost", cost, "sim.worker_cost", cost)...)
	}
	free := &Table{Labels: []string{"policy", "cost per message"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(schedMean, schedP95),
		changeOf("Δ mean vs free (%)", mean))}
	for _, policy := range []string{"dodoor", "pot", "prequal"} {
		for _, cost := range costs {
			none := priced(policy, costs[0])
			free.Rows = append(free.Rows, row(priced(policy, cost), &none, policy, cost))
		}
	}
	dear := costs[len(costs)-1]

	latency := &Table{Labels: []string{"QPS", "prequal.latency"}, Columns: slices.Concat(spreadOf(throughput, mean, p95), meanOf(p99),
		changeOf("Δ mean vs history (%)", mean))}
	for _, qps := range []float64{100, 400} {
		n := studyTasks
		if qps == 400 {
			n = paperTasks
		}
		history := functions(o, "prequal", qps, n).with(list("prequal.latency", "history")...)
		pending := functions(o, "prequal", qps, n).with(list("prequal.latency", "pending")...)
		latency.Rows = append(latency.Rows, row(history, &history, exact(qps), "history"), row(pending, &history, exact(qps), "pending"))
	}

	saturated := func(policy string) Cell { return functions(o, policy, 400, paperTasks) }
	capacity := &Table{Labels: []string{"policy"}, Columns: slices.Concat(spreadOf(throughput),
		meanOf(used, usedBy("m510"), usedBy("xl170"), usedBy("c6525-25g"), usedBy("c6620")), changeOf("Δ tasks/s vs pot (%)", throughput))}
	for _, policy := range []string{"random", "pot", "prequal", "dodoor", "ect", "dodoor+", "oracle"} {
		pot := saturated("pot")
		capacity.Rows = append(capacity.Rows, row(saturated(policy), &pot, policy))
	}

	return Study{
		Name: "why", Title: "Why: probes, estimates, capacity", Question: "What is the paper's gain made of?",
		Parts: []Part{
			{Text: `**What probing costs.** FunctionBench at QPS 100; every message, of whatever kind, occupies a handler of its receiver for the given time.
A probing policy decides two messages later than a caching one, and no task of PoT starts before two workers have answered; but
tasks last from hundreds of milliseconds to many seconds, so this alone cannot move makespans much unless handlers saturate.`,
				Table: free, Says: func(r *Results) string {
					say := func(policy string) string {
						return fmt.Sprintf("%s %s %%", policy, changed(r.change(priced(policy, dear), priced(policy, costs[0]), mean)))
					}
					return fmt.Sprintf("From free messages to %s each, the mean changes by: %s, %s, %s.", dear, say("dodoor"), say("pot"), say("prequal"))
				}},
			{Text: "**Prequal's latency estimate.** `history` is the median of recent tasks at about the present load, as published; `pending` is the queued\n" +
				"duration, as the Dodoor prototype has it, which is what Dodoor's own score weighs.", Table: latency},
			{Text: `**Capacity.** FunctionBench at QPS 400, far beyond what the cluster can do: cores in use from the first arrival to the last completion, in the
cluster and by class. 65 of the 100 nodes are the small ones, m510 and xl170, with 43 % of the cores. Of uniform pairs, 42 % lie within these
two classes, and no score can bring those tasks anywhere else; of uniform single draws it is 65 %. PoT, besides, compares numbers of
tasks, which say little about nodes of 8 and of 28 cores. So queues on small nodes can still be long when large ones have run dry.
Sampling in proportion to capacity and comparing completion times (` + "`ect`, `dodoor+`" + `) removes this.`, Table: capacity},
		},
		Rules: []Rule{{"More load than the cluster can take.", `dodoor uses %s %% of the cores until everything is done, PoT %s %%, dodoor+ %s %%, the oracle %s %%.
Uniform pairs leave large nodes idle: sample by capacity, and compare completion times.`, []Figure{
			valueOf(saturated("dodoor"), used), valueOf(saturated("pot"), used), valueOf(saturated("dodoor+"), used), valueOf(saturated("oracle"), used),
		}}},
	}
}
