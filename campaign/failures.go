package campaign

import (
	"fmt"
	"slices"
	"time"
)

// failures lets machines die.
func failures(o Options) Study {
	const tasks = 20_000
	const away = time.Minute
	const at = time.Minute
	begin := o.moment(at, tasks)
	dies, isAway := fmt.Sprintf("dies at %g s", at.Seconds()), fmt.Sprintf("away %g–%g s", at.Seconds(), (at+away).Seconds())
	fault := func(what, name string, returns bool) []string {
		back := ""
		if returns {
			back = fmt.Sprintf(", until='%v'", begin+away)
		}
		return overrides("sim.fault", fmt.Sprintf("[{what='%s', name='%s', at='%v'%s}]", what, name, begin, back))
	}
	events := []struct {
		name string
		sets []string
	}{
		{"nothing fails", nil},
		{"scheduler-2 " + dies, fault("scheduler", "scheduler-2", false)},
		{"scheduler-2 is " + isAway, fault("scheduler", "scheduler-2", true)},
		{"data service is " + isAway, fault("datastore", "", true)},
		{"all 40 m510 are " + isAway, fault("class", "m510", true)},
		{"a c6620 " + dies, fault("worker", "c6620-1", false)},
	}
	policies := []string{"dodoor", "dodoor+", "pot"}
	cell := func(policy string, sets []string) Cell { return functions(o, policy, 80, tasks).with(sets...) }
	table := &Table{Labels: []string{"event", "policy"}, Columns: slices.Concat(spreadOf(mean, p95, p99), meanOf(retried, unfinished),
		changeOf("Δ mean vs nothing (%)", mean))}
	for _, e := range events {
		for _, policy := range policies {
			calm := cell(policy, nil)
			table.Rows = append(table.Rows, row(cell(policy, e.sets), &calm, e.name, policy))
		}
	}
	missing := func(r *Results) (tasks, all float64) {
		for i := range table.Rows {
			for _, v := range r.values(table.Rows[i].Cell, unfinished) {
				tasks += v
			}
			for _, o := range r.of(table.Rows[i].Cell) {
				all += float64(o.Summary.Tasks)
			}
		}
		return tasks, all
	}
	data, class := events[3].sets, events[4].sets
	return Study{
		Name: "failures", Title: "Failures", Question: "What does it cost when machines die without notice? (FunctionBench, QPS 80, 20,000 " +
			"tasks, about 250 s)",
		Parts: []Part{
			{Text: `
What a machine held is gone with it: its queue, its running tasks, its caches. Tasks of a dead worker are placed again, from the beginning;
those of a dead scheduler are submitted again to another one, and run twice where a worker had them already, but count once. Without its
data service a scheduler goes on with the last snapshot. What comes back knows nothing. *Retried* are tasks with more than one
attempt, per run.`, Table: table, Says: func(r *Results) string {
				lost, all := missing(r)
				return fmt.Sprintf("Tasks lost or failed in all runs of this study: %s of %s.", exact(lost), exact(all))
			}},
			outage(o),
		},
		Rules: []Rule{{"Machines that die.", `
%s tasks were lost in any scenario. A minute without data service makes the mean of dodoor %s times as high, of dodoor+
%s times; a minute without the forty small nodes %s and %s times.`, []Figure{
			func(r *Results) string { lost, _ := missing(r); return exact(lost) },
			timesOf(cell("dodoor", data), cell("dodoor", nil)), timesOf(cell("dodoor+", data), cell("dodoor+", nil)),
			timesOf(cell("dodoor", class), cell("dodoor", nil)), timesOf(cell("dodoor+", class), cell("dodoor+", nil)),
		}}},
	}
}
