package campaign

import (
	"fmt"
	"slices"
	"strings"
)

// How much worse than the oracle dodoor+ may be, in the mean: where it knows what it can know, and where load,
// views or estimates are against it.
const (
	ordinaryBound = 1.15
	adverseBound  = 1.25
	leanMessages  = 1.05
)

// setting is a named condition under which policies are compared.
type setting struct {
	name  string
	cell  func(policy string) Cell
	bound float64
}

// nearOracle compares dodoor+ with a scheduler that knows everything.
func nearOracle(o Options) Study {
	bench := func(qps float64, sets ...string) func(string) Cell {
		return func(policy string) Cell { return functions(o, policy, qps, studyTasks).with(sets...) }
	}
	settings := []setting{
		{"FunctionBench, QPS 60", bench(60), ordinaryBound},
		{"FunctionBench, QPS 80", bench(80), ordinaryBound},
		{"FunctionBench, QPS 100", bench(100), ordinaryBound},
		{"Azure, QPS 2", func(policy string) Cell { return machines(o, policy, 2) }, ordinaryBound},
		{"QPS 100, 60 % through one scheduler", bench(100, overrides("sim.skew", 0.6)...), adverseBound},
		{"QPS 100, all through one scheduler", bench(100, overrides("sim.skew", 1)...), adverseBound},
		{"QPS 100, b = 1600", bench(100, overrides("datastore.b", 1600)...), adverseBound},
		{"QPS 80, estimates off by σ = 1", bench(80, overrides("worker.noise", 1)...), adverseBound},
	}
	table := &Table{Labels: []string{"setting", "policy"}, Columns: slices.Concat(spreadOf(mean, p95), meanOf(control),
		ratioOf("mean / oracle", mean), ratioOf("P95 / oracle", p95), bound(mean))}
	var plus []Row
	for _, s := range settings {
		oracle := s.cell("oracle")
		for _, policy := range []string{"oracle", "dodoor+", "dodoor", "pot"} {
			line := row(s.cell(policy), &oracle, s.name, policy)
			if policy == "dodoor+" {
				line.Bound = s.bound
				plus = append(plus, line)
			}
			table.Rows = append(table.Rows, line)
		}
	}
	var lean []Row
	for _, qps := range []float64{60, 80, 100} {
		c := functions(o, "dodoor+", qps, studyTasks)
		oracle := c.under("oracle")
		c.Profile = "dodoor+lean"
		line := row(c, &oracle, fmt.Sprintf("FunctionBench, QPS %g", qps), "dodoor+lean")
		line.Bound = adverseBound
		lean = append(lean, line)
	}
	table.Rows = append(table.Rows, lean...)

	missed := func(r *Results) []string {
		var names []string
		for _, rows := range [][]Row{plus, lean} {
			for i := range rows {
				if r.ratio(&rows[i], mean) > rows[i].Bound {
					names = append(names, strings.Join(rows[i].Labels, " "))
				}
			}
		}
		return names
	}
	thrifty := func(r *Results) bool {
		for i, s := range settings {
			if r.mean(plus[i].Cell, control) > r.mean(s.cell("dodoor"), control) {
				return false
			}
		}
		return true
	}
	leanest := func(r *Results) float64 {
		most := 0.0
		for i := range lean {
			most = max(most, r.mean(lean[i].Cell, control))
		}
		return most
	}
	return Study{
		Name: "oracle", Title: "dodoor+ against the oracle", Question: "How far from a scheduler that knows everything is dodoor+, with the " +
			"paper's messages or fewer?",
		Parts: []Part{
			{Text: `
The oracle compares all nodes in their true state with the true durations and gives every task, as it comes, the earliest finish. It is
greedy: it thinks of no later task, so that a ratio below 1 is possible for a policy that leaves room. ` + "`dodoor+lean`" +
				` is dodoor+ with
b = 1600 and b_Δ = 32.`},
			{Table: table, Says: func(r *Results) string {
				text := "dodoor+ keeps every bound on the mean."
				if names := missed(r); len(names) > 0 {
					text = "**Bounds missed:** " + strings.Join(names, "; ") + "."
				}
				return fmt.Sprintf("%s It sends no more control messages than dodoor in every setting: %s. Lean, it sends %s per task, at most %g: %s.",
					text, verdict(thrifty(r)), decimal(leanest(r), 3), leanMessages, verdict(leanest(r) <= leanMessages))
			}},
		},
	}
}
