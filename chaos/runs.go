package chaos

import (
	"cmp"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// inOrder: of two tasks at one worker process the one that came first starts first, whatever they need.
func inOrder(e *evidence, complain complain) {
	for _, at := range e.processes() {
		line := slices.DeleteFunc(slices.Clone(e.runs[at]), func(r Record) bool { return r.Place == 0 })
		slices.SortStableFunc(line, func(a, b Record) int { return cmp.Compare(a.Place, b.Place) })
		latest := Record{Start: -1}
		for i := range line {
			r := &line[i]
			if r.Place > latest.Place && r.Start+e.slack < latest.Start {
				complain(r.Task, "it started on %s (process %d) at %v, and task %s, which had come before it, at %v",
					at.worker, at.number, r.Start, latest.Task, latest.Start)
			}
			if r.Start > latest.Start {
				latest = *r
			}
		}
	}
}

// withinCapacity: what runs at one time on a worker's machine, whichever of its processes began it, needs no more than there is, and no
// more slots. There is no slack: one machine's clock tells both times, and a task notes its start after its worker has begun it, its
// end before its worker knows.
func withinCapacity(e *evidence, complain complain) {
	for i := range e.scenario.Workers {
		machine := &e.scenario.Workers[i]
		runs := e.at(machine.Name)
		for i := range runs {
			var cores, memory int64
			slots := 0
			for j := range i + 1 { // those that had started
				if j != i && over(&runs[j], &runs[i]) {
					continue
				}
				t := e.byID[runs[j].Task]
				cores, memory, slots = cores+t.Cores, memory+t.Memory, slots+1
			}
			if cores > machine.Cores || memory > machine.Memory || slots > machine.Slots {
				complain(runs[i].Task, "when it started on %s (process %d) at %v, %d tasks with %d millicores and %d MiB ran there",
					machine.Name, runs[i].Process, runs[i].Start, slots, cores, memory)
			}
		}
	}
}

// over reports whether an execution was over when another began: with its process, where nobody saw it end.
func over(r, next *Record) bool {
	if r.End == 0 {
		return r.Process != next.Process
	}
	return r.End <= next.Start
}

// trueRecords: a result tells of an execution that there was.
func trueRecords(e *evidence, complain complain) {
	for _, t := range e.tasks {
		for i := range t.collected {
			if problem := e.untrue(t, &t.collected[i]); problem != "" {
				complain(t.ID, "%s tells that it %s on %q (exit code %d, wait %v, run %v, makespan %v): %s", t.collected[i].Scheduler,
					t.collected[i].Outcome, t.collected[i].Worker, t.collected[i].Exit, t.collected[i].Wait, t.collected[i].Run,
					t.collected[i].Makespan, problem)
			}
		}
	}
}

// untrue is what is wrong with a result.
func (e *evidence) untrue(t *testimony, r *Record) string {
	outcome, _ := cluster.ParseOutcome(r.Outcome)
	if outcome != cluster.Finished && outcome != cluster.Failed {
		return ""
	}
	if max(r.Makespan, r.Wait, r.Run) > r.At-t.At+e.advanced()+e.slack+time.Millisecond {
		return "it took longer than its client waited"
	}
	if outcome == cluster.Failed && r.Worker == "" { // it never ran, as far as its scheduler knows
		return e.unplaced(t, r)
	}
	ran := slices.ContainsFunc(t.executed, func(x Record) bool {
		took := x.End - x.Start // as the task noted it: its worker began before that, and knew of the end after that
		return x.Worker == r.Worker && x.Outcome == r.Outcome && x.Exit == r.Exit &&
			took <= r.Run+time.Millisecond && r.Run <= took+e.slack+time.Millisecond
	})
	switch {
	case !ran:
		return "no execution there ended so"
	case (outcome == cluster.Finished) != (r.Exit == 0):
		return "outcome and exit code do not agree"
	case r.Exit != t.Exit:
		return "it ends with another exit code"
	case r.Attempts < 1:
		return "it ran without an attempt"
	case r.Makespan+e.slack < r.Wait+r.Run && !e.moved(t): // it may have run for another scheduler before
		return "it took less than its parts"
	}
	return ""
}

// unplaced is what is wrong with a result of a task that failed although no worker says so.
func (e *evidence) unplaced(t *testimony, r *Record) string {
	switch {
	case r.Reason == "":
		return "nobody says why"
	case len(t.executed) > 0 && !e.moved(t) && !e.blamed(t, r.At, whichever):
		return "it ran, and nothing had gone wrong"
	}
	return ""
}

// quietEnd: when all has ended nobody holds a task, and every account is zero.
func quietEnd(e *evidence, complain complain) {
	for i := range e.history {
		switch r := &e.history[i]; {
		case r.Kind != Left:
		case r.Reason != "":
			complain(r.Task, "%s", r.Reason)
		case r.Task != "":
			complain(r.Task, "%s%s still holds it", r.Scheduler, r.Worker)
		case r.Of != "":
			complain("", "%s still books %+v on %s", r.Of, r.Load, r.Worker)
		default:
			complain("", "%s%s still holds %d tasks and %+v", r.Scheduler, r.Worker, r.Pending, r.Load)
		}
	}
}
