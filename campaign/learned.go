package campaign

import (
	"fmt"
	"slices"
	"strings"

	"dodoor/report/metrics"
)

// The figures of runs in which schedulers learn.
var (
	lateMean    = Metric{metrics.MakespanMean, func(o *Outcome) float64 { return o.Course.Windows[len(windowEnds)] }}
	lateP95     = Metric{metrics.MakespanP95, func(o *Outcome) float64 { return o.Course.LateP95 }}
	sinceChange = Metric{metrics.MakespanMean, func(o *Outcome) float64 { return o.Course.Changed }}
	followed    = Metric{metrics.Metric{Name: "completions until followed"}, func(o *Outcome) float64 { return o.Course.Followed }}
)

// window is the mean makespan of the tasks of one.
func window(i int) Metric {
	return Metric{metrics.MakespanMean, func(o *Outcome) float64 { return o.Course.Windows[i] }}
}

// How much worse the mean may be with learned estimates, after what they are learned from, and how soon they follow.
const (
	learnedBound  = 0.05 // than with exact ones, or given ones
	learnedOracle = 0.10 // than the oracle's, with dodoor+
	followedBound = 50   // completions of one name on one class, with any seed
)

// Where estimates come from (scheduler.estimates).
const (
	given    = "given"
	foreseen = "exact"
	fromPast = "learned"
	cold     = "cold"
)

// load is a trace at a rate.
type load struct {
	name string
	cell func(policy string) Cell
}

// learning is the study of estimates that schedulers make themselves.
type learning struct {
	loads    []load
	calm     load // where tasks can take much longer without an overload
	sigmas   []float64
	policies []string
}

// under is one setting of it.
func (l *learning) under(at load, policy string, sigma float64, estimates string) Cell {
	return at.cell(policy).with(overrides("worker.noise", sigma, "scheduler.estimates", estimates)...)
}

// learned is the study.
func learned(o Options) Study {
	bench := func(qps float64) load {
		return load{fmt.Sprintf("FunctionBench, QPS %g", qps), func(policy string) Cell { return functions(o, policy, qps, fewTasks) }}
	}
	l := learning{
		loads:    []load{bench(60), bench(100), {"Azure, QPS 1", func(policy string) Cell { return machines(o, policy, 1) }}},
		calm:     bench(40),
		sigmas:   []float64{0, 0.5, 1},
		policies: []string{"dodoor", "dodoor+", "ect", "prequal"},
	}
	return Study{
		Name: "learned", Title: "Learned estimates", Question: "What if nobody says how long tasks take, and schedulers learn it from a " +
			"cold start?",
		Parts: slices.Concat(l.settledParts(), l.earlyParts(), l.changeParts(), l.overrunParts()),
		Rules: []Rule{{"Nobody knows how long tasks take.", `
After %s tasks, with estimates learned from a cold start and σ = 0, the mean of dodoor at FunctionBench, QPS 100, is %s times that
with exact ones, of dodoor+ %s times.`, []Figure{
			func(*Results) string { return exact(float64(settled)) },
			l.lateTimes(l.loads[1], "dodoor"), l.lateTimes(l.loads[1], "dodoor+"),
		}}},
	}
}

func (l *learning) lateTimes(at load, policy string) Figure {
	return func(r *Results) string {
		return decimal(r.mean(l.under(at, policy, 0, cold), lateMean)/r.mean(l.under(at, policy, 0, foreseen), lateMean), 2)
	}
}

// beside shows a figure of the setting that a row has beside its own, at a place.
func beside(head string, at int, m Metric) Column {
	return Column{head, func(r *Results, row *Row) string { return m.text(r.mean(row.Beside[at], m)) }}
}

// changeBeside compares the row's setting with one beside it, run by run.
func changeBeside(head string, at int, m Metric) Column {
	return Column{head, func(r *Results, row *Row) string {
		if row.Beside[at].key() == row.Cell.key() {
			return "–"
		}
		return changed(r.change(row.Cell, row.Beside[at], m))
	}}
}

// settledParts judge schedulers once they have learned.
func (l *learning) settledParts() []Part {
	const withExact, withGiven, ofOracle = 0, 1, 2
	table := &Table{Labels: []string{"load", "σ", "policy", "estimates"}, Columns: slices.Concat(
		[]Column{beside("mean, exact (s)", withExact, lateMean), beside("given (s)", withGiven, lateMean)},
		[]Column{{"learned (s)", func(r *Results, row *Row) string { return lateMean.spread(r.estimate(row.Cell, lateMean)) }}},
		[]Column{beside("oracle (s)", ofOracle, lateMean),
			changeBeside("Δ learned vs exact (%)", withExact, lateMean), changeBeside("vs given (%)", withGiven, lateMean),
			changeBeside("vs oracle (%)", ofOracle, lateMean),
			beside("P95, exact (s)", withExact, lateP95), beside("given (s)", withGiven, lateP95)},
		[]Column{{"learned (s)", func(r *Results, row *Row) string { return lateP95.spread(r.estimate(row.Cell, lateP95)) }}},
	)}
	for _, at := range l.loads {
		for _, sigma := range l.sigmas {
			for _, policy := range l.policies {
				for _, estimates := range l.learn(at, policy, sigma) {
					line := row(l.under(at, policy, sigma, estimates), nil, at.name, exact(sigma), policy, estimates)
					line.Beside = []Cell{l.under(at, policy, sigma, foreseen), l.under(at, policy, sigma, given),
						l.under(at, "oracle", sigma, given)}
					table.Rows = append(table.Rows, line)
				}
			}
		}
	}
	return []Part{{Text: fmt.Sprintf(`
*Given* estimates are the profile's, as everywhere else on this page: those of the mean, where durations are off by a lognormal factor
exp(σZ − σ²/2). *Exact* ones are what every task will take, its own factor included, so that with σ > 0 nobody can learn them.
*Learned* ones come from a cold start (%s): profile and submission are not looked at, schedulers begin with %s
for every task and go by what ended ([policies](policies.md)); or, as by default (%s), the profile holds until experience
disagrees with it for long. Figures are of the tasks that were due after the first %s. Prequal uses
no estimates, and the oracle knows the true durations.`, "`"+cold+"`", "`scheduler.default_duration`", "`"+fromPast+"`", exact(settled)),
		Table: table, Says: l.goals(table.Rows)}}
}

// learn is how schedulers learn in a setting. What is known beforehand and right matters where durations scatter.
func (l *learning) learn(at load, policy string, sigma float64) []string {
	if l.bench(at.name) && sigma > 0 && strings.HasPrefix(policy, "dodoor") {
		return []string{cold, fromPast}
	}
	return []string{cold}
}

// bench reports whether a load is FunctionBench's.
func (l *learning) bench(name string) bool { return name != l.loads[len(l.loads)-1].name }

// goals says which goals were missed, and by how much.
func (l *learning) goals(rows []Row) func(r *Results) string {
	return func(r *Results) string {
		var text []string
		tell := func(what string, bound float64, of func(row *Row) *Cell) {
			var missed []string
			kept := 0
			for i := range rows {
				against := of(&rows[i])
				switch {
				case against == nil:
				case r.mean(rows[i].Cell, lateMean) <= (1+bound)*r.mean(*against, lateMean):
					kept++
				default:
					labels := rows[i].Labels
					missed = append(missed, fmt.Sprintf("%s, σ = %s, %s, `%s` (%s %%)", labels[0], labels[1], labels[2], labels[3],
						percent(r.mean(rows[i].Cell, lateMean)/r.mean(*against, lateMean)-1)))
				}
			}
			line := fmt.Sprintf("* %s, at most %s %% more: %d of %d.", what, exact(100*bound), kept, kept+len(missed))
			if len(missed) > 0 {
				line += " **Missed:** " + strings.Join(missed, "; ") + "."
			}
			text = append(text, line)
		}
		bench := func(row *Row) bool { return l.bench(row.Labels[0]) && row.Labels[2] != "prequal" }
		tell("Learned against exact, FunctionBench", learnedBound, func(row *Row) *Cell {
			if bench(row) {
				return &row.Beside[0]
			}
			return nil
		})
		tell("Learned against given, FunctionBench, σ > 0", learnedBound, func(row *Row) *Cell {
			if bench(row) && row.Labels[1] != exact(0) {
				return &row.Beside[1]
			}
			return nil
		})
		tell("dodoor+ with learned estimates against the oracle, FunctionBench", learnedOracle, func(row *Row) *Cell {
			if bench(row) && row.Labels[2] == "dodoor+" {
				return &row.Beside[2]
			}
			return nil
		})
		return strings.Join(text, "\n")
	}
}

// earlyParts show how schedulers learn.
func (l *learning) earlyParts() []Part {
	table := &Table{Labels: []string{"load", "σ", "policy"}}
	from := 1
	for i := range len(windowEnds) + 1 {
		head := fmt.Sprintf("after %s", exact(settled))
		if i < len(windowEnds) {
			head = fmt.Sprintf("tasks %s–%s", exact(float64(from)), exact(float64(windowEnds[i])))
			from = windowEnds[i] + 1
		}
		table.Columns = append(table.Columns, Column{head + " (s)", func(r *Results, row *Row) string {
			m := window(i)
			return m.text(r.mean(row.Cell, m))
		}}, changeBeside("vs exact (%)", 0, window(i)))
	}
	for _, at := range l.loads[:2] {
		for _, sigma := range []float64{0, 1} {
			for _, policy := range l.policies[:3] {
				line := row(l.under(at, policy, sigma, cold), nil, at.name, exact(sigma), policy)
				line.Beside = []Cell{l.under(at, policy, sigma, foreseen)}
				table.Rows = append(table.Rows, line)
			}
		}
	}
	return []Part{{Text: `
**How many tasks it takes.** Mean makespan with learned estimates from a cold start by the order in which tasks were due, warm-up included,
and the change against exact estimates for the same tasks.`, Table: table}}
}
