package campaign

import (
	"fmt"
	"slices"
	"time"
)

// neverStale lets a replica place from a frozen view for as long as an outage lasts.
const neverStale = "scheduler.stale_after='8760h'"

// outage takes the data service away from every policy that places from a cache, with views that stay frozen and with
// views that show what the replica placed itself.
func outage(o Options) Part {
	const tasks = 20_000
	begin := o.moment(time.Minute, tasks)
	away := overrides("sim.fault", fmt.Sprintf("[{what='datastore', name='', at='%v', until='%v'}]", begin, begin+time.Minute))
	table := &Table{Labels: []string{"policy", "data service", "stale views"}, Columns: slices.Concat(spreadOf(throughput, mean, p99),
		changeOf("Δ tasks/s (%)", throughput), changeOf("Δ mean (%)", mean), changeOf("Δ P99 (%)", p99))}
	for _, policy := range []string{"dodoor", "dodoor+", "partition", "ect", "cached-pot", "oneplusbeta", "least-loaded"} {
		calm := functions(o, policy, 80, tasks)
		frozen := calm.with(away...).with(neverStale)
		table.Rows = append(table.Rows, row(calm, nil, policy, "there", "–"), row(frozen, &calm, policy, "away", "frozen"),
			row(calm.with(away...), &calm, policy, "away", "own"))
	}
	return Part{Text: `
The same minute without data service, for every policy that places from a cache. *Frozen*: the schedulers go on with the last snapshot.
*Own*: a view older than four usual distances of pushes (here about 5 s) shows what its scheduler placed itself and what of
that has not ended, times the number of schedulers, until the next snapshot (` + "`scheduler.stale_after`" + `). A view with
self-correction, as that of ect, stays frozen, with its own placements on top: that was found to be better. What the others did
differently it cannot know: that is the price that is left. dodoor+ and partition get a report of the worker with every
acknowledgement and every completion, so their views do not age.
Where *own* and *frozen* agree, the policy's view does not change.`, Table: table}
}
