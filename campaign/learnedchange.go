package campaign

import (
	"fmt"
	"slices"
	"strings"
)

// changedType takes another time from the middle of a run on, so many times as long.
const (
	changedType   = "rnn_name_generation"
	changedFactor = 2
	changedFrom   = 0.5
)

// changeParts let a type take longer from the middle of a run on.
func (l *learning) changeParts() []Part {
	table := &Table{Labels: []string{"policy", "estimates"}, Columns: []Column{
		{"mean since (s)", func(r *Results, row *Row) string { return sinceChange.spread(r.estimate(row.Cell, sinceChange)) }},
		changeBeside("Δ vs exact (%)", 0, sinceChange),
		{followed.Name, func(r *Results, row *Row) string { return r.soon(row.Cell) }},
	}}
	sets := overrides("sim.change.type", changedType, "sim.change.from", changedFrom, "sim.change.factor", changedFactor)
	for _, policy := range l.policies[:3] {
		for _, estimates := range []string{given, fromPast, cold, foreseen} {
			line := row(l.under(l.loads[0], policy, 0, estimates).with(sets...), nil, policy, estimates)
			line.Beside = []Cell{l.under(l.loads[0], policy, 0, foreseen).with(sets...)}
			table.Rows = append(table.Rows, line)
		}
	}
	return []Part{{Text: fmt.Sprintf(`
**What if a task changes?** %s, σ = 0. After %s %% of the tasks, `+"`%s`"+` takes %s times as long as before, and nobody
is told. The mean is of all tasks that were due since. *Completions until followed*: how many of those longer tasks had ended on one
class of nodes when the last one was placed there whose estimate was more than %s %% off; the most of all classes, over all
schedulers. `+"`learned`"+` begins with the profile, which holds until experience disagrees with it for long.`,
		l.loads[0].name, exact(100*changedFrom), changedType, exact(changedFactor),
		exact(100*farOff)), Table: table, Says: func(r *Results) string {
		var late []string
		for i := range table.Rows {
			line := &table.Rows[i]
			learns := line.Labels[1] == cold || line.Labels[1] == fromPast
			if worst := slices.Max(r.values(line.Cell, followed)); learns && !(worst <= followedBound) {
				late = append(late, fmt.Sprintf("%s, `%s` (%s)", line.Labels[0], line.Labels[1], completionsText(line.Cell, worst)))
			}
		}
		if len(late) == 0 {
			return fmt.Sprintf("Learned estimates follow within %d completions of the name on a class, under every policy with every seed.",
				followedBound)
		}
		return fmt.Sprintf("**Not within %d completions** of the name on a class, with the worst seed: %s.", followedBound,
			strings.Join(late, "; "))
	}}}
}

// text is a number of completions until estimates follow.
func completionsText(c Cell, completions float64) string {
	if completions > float64(c.N) {
		return "never"
	}
	return exact(completions)
}

// soon is after how many completions estimates follow.
func (r *Results) soon(c Cell) string {
	for _, v := range r.values(c, followed) {
		if v > float64(c.N) {
			return "never"
		}
	}
	return followed.spread(r.estimate(c, followed))
}

// overrun is a setting in which tasks run longer than estimated.
type overrun struct {
	name, estimates string
	cell            func(policy string) Cell
}

// overruns are durations that are off by noise, and estimates that are wrong altogether.
func (l *learning) overruns() []overrun {
	const sigma = 1
	var all []overrun
	for _, at := range l.loads {
		for _, estimates := range []string{given, cold} {
			all = append(all, overrun{at.name + ", σ = " + exact(sigma), estimates, func(policy string) Cell {
				return l.under(at, policy, sigma, estimates)
			}})
		}
	}
	sets := overrides("sim.change.type", changedType, "sim.change.from", 0, "sim.change.factor", wrongFactor)
	return append(all, overrun{fmt.Sprintf("%s, `%s` takes %s times its estimate", l.calm.name, changedType, exact(wrongFactor)), given,
		func(policy string) Cell { return l.under(l.calm, policy, 0, given).with(sets...) }})
}

// wrongFactor is how wrong an estimate is that is wrong altogether.
const wrongFactor = 10

// overrunParts let workers say what is still to come of tasks that run longer than estimated.
func (l *learning) overrunParts() []Part {
	table := &Table{Labels: []string{"setting", "estimates", "policy"}, Columns: []Column{
		beside("mean, off (s)", 0, lateMean),
		{"on (s)", func(r *Results, row *Row) string { return lateMean.spread(r.estimate(row.Cell, lateMean)) }},
		changeBeside("Δ mean (%)", 0, lateMean), changeBeside("Δ P95 (%)", 0, lateP95),
	}}
	for _, at := range l.overruns() {
		for _, policy := range l.policies[:3] {
			off := at.cell(policy)
			line := row(off.with(overrides("worker.reestimate", true)...), nil, at.name, at.estimates, policy)
			line.Beside = []Cell{off}
			table.Rows = append(table.Rows, line)
		}
	}
	return []Part{{Text: `
**Does it help to say that a task runs longer than estimated?** ` + "`worker.reestimate`" + ` (on by default, and off elsewhere on this
page) has reports count what is still to come of such a task, where that is more than its
estimate.`, Table: table, Says: func(r *Results) string {
		var better, worse []string
		for i := range table.Rows {
			line := &table.Rows[i]
			c := r.change(line.Cell, line.Beside[0], lateMean)
			name := fmt.Sprintf("%s: %s (%s %%)", strings.Join(line.Labels[:2], ", "), line.Labels[2], percent(c.Mean))
			switch {
			case !c.Significant():
			case c.Mean < 0:
				better = append(better, name)
			default:
				worse = append(worse, name)
			}
		}
		return fmt.Sprintf("The mean falls in %d of %d settings%s, rises in %d%s, and in the others the interval of the change holds zero.",
			len(better), len(table.Rows), listing(better), len(worse), listing(worse))
	}}}
}

// listing is a list after a colon; nothing of nothing.
func listing(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, "; ") + ";"
}
