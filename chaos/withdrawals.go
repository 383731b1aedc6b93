package chaos

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// cancelledByRequest: a scheduler tells that a task was cancelled only when the task's client had asked it to end that. What else becomes
// of such a task is as good: it may have ended before.
func cancelledByRequest(e *evidence, complain complain) {
	for _, t := range e.tasks {
		if len(t.withdrawn) > 0 && t.Withdrawn == 0 {
			complain(t.ID, "its client asked for its end, which the scenario does not have")
		}
		for _, r := range t.collected {
			if r.Outcome == cluster.Cancelled.String() && !slices.ContainsFunc(t.withdrawn, func(w Record) bool {
				return w.Scheduler == r.Scheduler && w.At <= r.At
			}) {
				complain(t.ID, "%s tells that it was cancelled (%s), and nobody had asked it for that", r.Scheduler, r.Reason)
			}
		}
	}
}

// promptly is how soon a task ends at its worker that its scheduler has promised to end, when nothing goes wrong.
const promptly = time.Second

// heeded: a task that its only scheduler has promised to end does not run on, unless something had gone wrong.
func heeded(e *evidence, complain complain) {
	for _, t := range e.tasks {
		i := slices.IndexFunc(t.withdrawn, func(w Record) bool { return w.Answer == Accepted })
		if i < 0 || e.moved(t) {
			continue
		}
		for _, x := range t.executed {
			if late := max(x.Start, x.End); late > t.withdrawn[i].At+promptly+e.slack && !e.blamed(t, late, whichever) {
				complain(t.ID, "%s promised at %v to end it, nothing had gone wrong, and it ran on %s until %v", t.withdrawn[i].Scheduler,
					t.withdrawn[i].At, x.Worker, late)
			}
		}
	}
}
