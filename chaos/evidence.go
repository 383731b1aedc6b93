package chaos

import (
	"cmp"
	"slices"
	"time"
)

// evidence is a history, sorted for the rules.
type evidence struct {
	history  History
	scenario *Scenario
	slack    time.Duration
	felt     []time.Duration // until when, of each of the scenario's faults
	tasks    []*testimony    // in the order of the scenario
	byID     map[string]*testimony
	machines map[string]*Worker
	runs     map[process]History // executions, in the order of their starts
}

// process is one of a worker.
type process struct {
	worker string
	number int64
}

// testimony is what a history has of one task.
type testimony struct {
	*Task
	submitted, executed, collected, missed, withdrawn History
}

func newEvidence(h History) *evidence {
	e := &evidence{history: h, scenario: h.Scenario(), slack: h.Slack(), byID: map[string]*testimony{}, machines: map[string]*Worker{},
		runs: map[process]History{}}
	e.felt = felt(e.scenario.Faults)
	for i := range e.scenario.Tasks {
		t := &testimony{Task: &e.scenario.Tasks[i]}
		e.tasks, e.byID[t.ID] = append(e.tasks, t), t
	}
	for i := range e.scenario.Workers {
		e.machines[e.scenario.Workers[i].Name] = &e.scenario.Workers[i]
	}
	for _, record := range h {
		e.file(record)
	}
	for _, runs := range e.runs {
		slices.SortStableFunc(runs, func(a, b Record) int { return cmp.Compare(a.Start, b.Start) })
	}
	return e
}

// file puts a record where the rules look for it.
func (e *evidence) file(record Record) {
	t := e.byID[record.Task]
	if t == nil {
		return
	}
	switch record.Kind {
	case Submitted:
		t.submitted = append(t.submitted, record)
	case Executed:
		t.executed = append(t.executed, record)
		at := process{record.Worker, record.Process}
		e.runs[at] = append(e.runs[at], record)
	case Collected:
		t.collected = append(t.collected, record)
	case Withdrawn:
		t.withdrawn = append(t.withdrawn, record)
	case Missed:
		t.missed = append(t.missed, record)
	}
}

// answered reports whether any submission of the task was answered like this.
func (t *testimony) answered(answer string) bool {
	return slices.ContainsFunc(t.submitted, func(r Record) bool { return r.Answer == answer })
}

// moved reports whether its client had the task taken more than once: by several schedulers or, where those keep nothing, by several
// processes of one.
func (e *evidence) moved(t *testimony) bool {
	taken := slices.DeleteFunc(slices.Clone(t.submitted), func(r Record) bool { return r.Answer == Refused })
	return len(taken) > 1 && (!e.scenario.Shape.Journal ||
		slices.ContainsFunc(taken, func(r Record) bool { return r.Scheduler != taken[0].Scheduler }))
}

// processes are the keys of runs in order.
func (e *evidence) processes() []process {
	var all []process
	for at := range e.runs {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b process) int {
		return cmp.Or(cmp.Compare(a.worker, b.worker), cmp.Compare(a.number, b.number))
	})
	return all
}

// at are the executions at a worker, in the order of their starts.
func (e *evidence) at(worker string) History {
	var all History
	for _, at := range e.processes() {
		if at.worker == worker {
			all = append(all, e.runs[at]...)
		}
	}
	slices.SortStableFunc(all, func(a, b Record) int { return cmp.Compare(a.Start, b.Start) })
	return all
}
