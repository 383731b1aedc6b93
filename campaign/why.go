package campaign

import (
	"fmt"
	"slices"
)

// probing asks what probes cost, and what Prequal's estimate is worth.
func probing(o Options) Study {
	at100 := func(policy string) Cell { return functions(o, policy, 100, studyTasks) }
	costs := []string{"0s", "200us", "1ms", "3ms"}
	priced := func(policy, cost string) Cell {
		return at100(policy).with(overrides("sim.scheduler_cost", cost, "sim.datastore_cost", cost, "sim.worker_cost", cost)...)
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
		history := functions(o, "prequal", qps, n).with(overrides("prequal.latency", "history")...)
		pending := functions(o, "prequal", qps, n).with(overrides("prequal.latency", "pending")...)
		latency.Rows = append(latency.Rows, row(history, &history, exact(qps), "history"), row(pending, &history, exact(qps), "pending"))
	}

	idle := &Table{Labels: []string{"QPS", "prequal.idle_probing"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(control),
		changeOf("Δ mean vs off (%)", mean))}
	for _, qps := range []float64{5, 20, 60} {
		never := functions(o, "prequal", qps, fewTasks).with(overrides("prequal.idle_probing", "0s")...)
		for _, after := range []string{"0s", "500ms"} {
			idle.Rows = append(idle.Rows, row(functions(o, "prequal", qps, fewTasks).with(overrides("prequal.idle_probing", after)...), &never,
				exact(qps), after))
		}
	}

	return Study{
		Name: "why", Title: "Why: probes and estimates", Question: "What do probes cost, and what is Prequal's estimate worth?",
		Parts: []Part{
			{Text: `
**What probing costs.** FunctionBench at QPS 100; every message, of whatever kind, occupies a handler of its receiver for the given time.
A probing policy decides two messages later than a caching one, and no task of PoT starts before two workers have answered; but
tasks last from hundreds of milliseconds to many seconds, so this alone cannot move makespans much unless handlers saturate.`,
				Table: free, Says: func(r *Results) string {
					say := func(policy string) string {
						return fmt.Sprintf("%s %s %%", policy, changed(r.change(priced(policy, dear), priced(policy, costs[0]), mean)))
					}
					return fmt.Sprintf("From free messages to %s each, the mean changes by: %s, %s, %s.", dear, say("dodoor"), say("pot"), say("prequal"))
				}},
			{Text: "**Prequal's latency estimate.** `history` is the median of recent tasks at about the present load, as published; `pending` is " +
				"the queued\n" +
				"duration, as the Dodoor prototype has it, which is what Dodoor's own score weighs.", Table: latency},
			{Text: "**Prequal's idle probing.** Optional in the original: a scheduler without a task for so long probes on its own. Off (0s) " +
				"wherever else Prequal\n" +
				"is compared, as the paper's own setting is not known to have it.", Table: idle},
		},
	}
}
