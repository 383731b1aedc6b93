package sim

import (
	"fmt"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// ledger checks a node from outside, in every run: capacity is never exceeded, and nobody overtakes the
// head of the line.
type ledger struct {
	name     string
	capacity cluster.Resources
	slots    int
	reserved cluster.Resources
	running  int
	devices  map[device]int64    // thousandths in use
	held     map[string][]device // by the tasks that have some

	line    []string // accepted, in order of arrival, from head on
	head    int
	gone    int64           // off the line for good, before its first
	skipped map[string]bool // overtaken: cancelled, or accepted before under the same id
	problem error           // the first one
}

func newLedger(n *cluster.Node) ledger {
	return ledger{name: n.Name, capacity: n.Capacity, slots: n.Slots, skipped: map[string]bool{}}
}

// accepted notes the placements of a message that the node did not refuse.
func (l *ledger) accepted(e *cluster.Enqueue, reply *cluster.EnqueueReply) {
	for i := range e.Assignments {
		if a := &e.Assignments[i]; !refuses(reply, a.Number) {
			l.line = append(l.line, a.TaskID)
		}
	}
}

func refuses(reply *cluster.EnqueueReply, number int64) bool {
	for i := range reply.Refused {
		if reply.Refused[i].Number == number {
			return true
		}
	}
	return false
}

// started books an execution, and returns the place that its task had among all that were accepted.
func (l *ledger) started(s *worker.Start) (place int64) {
	place = l.pass(s.TaskID)
	l.reserved = l.reserved.Add(s.Shape.Demand)
	l.running++
	if !l.reserved.FitsIn(&l.capacity) || l.running > l.slots {
		l.complain("node %s overcommits: %d tasks with %v run on %d slots with %v", l.name, l.running, l.reserved, l.slots, l.capacity)
	}
	l.hand(s)
	return place
}

// pass takes a starting task off the line, and returns its place from 1 on; 0: it was not there. Those before it never start: they
// were cancelled, or their placement only repeated an earlier one.
func (l *ledger) pass(id string) (place int64) {
	at := l.head
	for at < len(l.line) && l.line[at] != id {
		at++
	}
	if at == len(l.line) {
		if l.skipped[id] {
			l.complain("node %s starts task %s after a task that arrived later", l.name, id)
		} else {
			l.complain("node %s starts task %s, which it never accepted", l.name, id)
		}
		return 0
	}
	for ; l.head < at; l.head++ {
		l.skipped[l.line[l.head]] = true
	}
	l.head++
	place = l.gone + int64(l.head)
	if l.head == len(l.line) {
		l.gone += int64(l.head)
		l.line, l.head = l.line[:0], 0
	}
	return place
}

// ended releases what an execution had reserved.
func (l *ledger) ended(id string, demand *cluster.Resources) {
	l.reserved = l.reserved.Sub(*demand)
	l.running--
	l.takeBack(id, demand)
}

func (l *ledger) complain(format string, args ...any) {
	if l.problem == nil {
		l.problem = fmt.Errorf(format, args...)
	}
}

// share is the part of the cores that is reserved.
func (l *ledger) share() float64 {
	return float64(l.reserved[cluster.Cores]) / float64(l.capacity[cluster.Cores])
}
