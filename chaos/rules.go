package chaos

import (
	"cmp"
	"slices"

	"dodoor/internal/cluster"
)

// complain tells of a violation, of a task or of none.
type complain func(task, format string, args ...any)

// rule is one thing that must hold whatever goes wrong.
type rule struct {
	name  string
	check func(*evidence, complain)
}

var rules = []rule{
	{"every name is known", knownNames},
	{"one terminal state", oneEnd},
	{"nothing accepted is lost", noneLost},
	{"every task is told of", allTold},
	{"cancelled by request", cancelledByRequest},
	{"requests are heeded", heeded},
	{"no work without a reason", noneRepeated},
	{"lost with a reason", lostWithReason},
	{"at most once", atMostOnce},
	{"first come, first served", inOrder},
	{"capacity", withinCapacity},
	{"every record is true", trueRecords},
	{"quiet in the end", quietEnd},
}

// knownNames: what is not in the scenario cannot have happened.
func knownNames(e *evidence, complain complain) {
	for i := range e.history {
		r := &e.history[i]
		if r.Task != "" && e.byID[r.Task] == nil {
			complain(r.Task, "the scenario has no such task")
		}
		if r.Kind == Executed && e.machines[r.Worker] == nil {
			complain(r.Task, "it ran on %q, which the scenario does not have", r.Worker)
		}
	}
}

// oneEnd: whoever tells of a task's end tells of the same one. A task that its client had submitted to several schedulers may end at each.
func oneEnd(e *evidence, complain complain) {
	for _, t := range e.tasks {
		ends := map[string]string{}
		for _, r := range t.collected {
			if !slices.ContainsFunc(t.submitted, func(s Record) bool { return s.Scheduler == r.Scheduler }) {
				complain(t.ID, "%s told of its end, and never was asked to take it", r.Scheduler)
			}
			if before, known := ends[r.Scheduler]; known && before != r.Outcome {
				complain(t.ID, "%s told of two ends: %s, then %s", r.Scheduler, before, r.Outcome)
			}
			ends[r.Scheduler] = r.Outcome
			if _, ok := cluster.ParseOutcome(r.Outcome); !ok {
				complain(t.ID, "%q is no terminal state", r.Outcome)
			}
		}
	}
}

// noneLost: an accepted task has a terminal state, which its client got. Without a journal a scheduler that dies takes what it had
// accepted with it, and a client that does not resubmit, or must not, is told so.
func noneLost(e *evidence, complain complain) {
	for _, t := range e.tasks {
		if !t.answered(Accepted) || len(t.collected) > 0 {
			continue
		}
		if len(t.missed) == 0 {
			complain(t.ID, "it was accepted, and nobody ever told how it ended")
		} else if e.scenario.Shape.Journal || e.resubmits(t.Client) && !t.AtMostOnce {
			complain(t.ID, "it was accepted, and its client was told: %s", t.missed[0].Reason)
		} else if !e.forgot(t, t.missed[0].At) {
			complain(t.ID, "it was accepted, no scheduler that had it ended, and its client was told: %s", t.missed[0].Reason)
		}
	}
}

// allTold: of a task that nobody accepted its client says why it waits no more, and something had gone wrong meanwhile.
func allTold(e *evidence, complain complain) {
	for _, t := range e.tasks {
		switch {
		case t.answered(Accepted) || len(t.collected) > 0:
		case len(t.missed) == 0:
			complain(t.ID, "its client neither got a result nor gave up")
		case t.missed[0].Reason == "":
			complain(t.ID, "its client gave up, and does not say why")
		case !e.blamed(t, t.missed[0].At, whichever):
			complain(t.ID, "nothing had gone wrong, and its client gave up: %s", t.missed[0].Reason)
		}
	}
}

// mostTries is how often a task may be placed in vain for each thing that went wrong.
const mostTries = 100

// noneRepeated: a task that its client had taken once runs again, or is placed again, only after something went wrong.
func noneRepeated(e *evidence, complain complain) {
	for _, t := range e.tasks {
		if n := len(t.executed); n > 1 && !t.AtMostOnce && !e.moved(t) {
			last := slices.MaxFunc(t.executed, func(a, b Record) int { return cmp.Compare(a.Start, b.Start) })
			if !e.blamed(t, last.Start, whichever) {
				complain(t.ID, "it ran %d times, and nothing had gone wrong", n)
			}
		}
		for _, r := range t.collected {
			if most := max(1, len(t.executed)) + mostTries*len(e.scenario.Faults); r.Attempts > most {
				complain(t.ID, "%s placed it %d times, for %d executions and %d faults", r.Scheduler, r.Attempts, len(t.executed),
					len(e.scenario.Faults))
			}
		}
	}
}

// resubmits reports whether a client submits again what a scheduler that is gone had accepted.
func (e *evidence) resubmits(name string) bool {
	for i := range e.scenario.Clients {
		if c := &e.scenario.Clients[i]; c.Name == name {
			return c.Resubmits
		}
	}
	return false
}

// lostWithReason: only a task that must not run twice may end as lost, once it may have started and its worker or scheduler could
// not be heard, and its record says why.
func lostWithReason(e *evidence, complain complain) {
	for _, t := range e.tasks {
		for _, r := range t.collected {
			switch {
			case r.Outcome != cluster.Lost.String():
			case !t.AtMostOnce:
				complain(t.ID, "it is lost (%s), but could have run again", r.Reason)
			case r.Reason == "":
				complain(t.ID, "it is lost, and nobody says why")
			case r.Worker == "" && len(t.executed) == 0:
				complain(t.ID, "it is lost (%s), and never was at a worker", r.Reason)
			case !e.blamed(t, r.At, severs):
				complain(t.ID, "it is lost (%s), and no worker or scheduler had ended or was cut off", r.Reason)
			}
		}
	}
}

// atMostOnce: of such a task no second execution begins, wherever and whatever became of the first.
func atMostOnce(e *evidence, complain complain) {
	for _, t := range e.tasks {
		if t.AtMostOnce && len(t.executed) > 1 {
			complain(t.ID, "it must run at most once, and began %d times: on %s at %v, on %s at %v", len(t.executed),
				t.executed[0].Worker, t.executed[0].Start, t.executed[1].Worker, t.executed[1].Start)
		}
	}
}
