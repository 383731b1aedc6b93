package scheduler

import (
	"time"

	"dodoor/internal/cluster"
)

// node is one registered worker and this replica's stream to its current process.
type node struct {
	cluster.Node
	id          workerID
	stream      stream
	present     bool  // in use: in the roster, or in the grace after the data service restarted, or missed and answering
	listed      bool  // in the newest roster
	rowsOf      int64 // incarnation in the newest roster that has it
	missed      bool  // not listed, and the grace is over: it is asked whether it is there
	asked       time.Duration
	suspect     bool            // this replica cannot reach it: no candidate until it answers again
	down        bool            // it gave it up
	givenUp     int64           // placements up to this number were placed again elsewhere
	kept        bool            // the journal knows it
	unconnected bool            // it has open placements of an earlier process, and no stream yet
	claims      []cluster.Claim // those that it is to be asked about
	drift       drift
	sequence    int64 // of the worker's report that the view is based on
}

// nodeTable gives every worker a dense index that it keeps while it is registered. Indices of
// departed workers are used again.
type nodeTable struct {
	slots   []node
	byName  map[string]int
	free    []int
	roster  []int // roster position -> index
	version int64 // of the roster
	base    int64 // earlier processes of this replica have given the numbers up to it
	dirty   []int // streams for the next delta

	departed map[string]departed
	missed   int // of the workers
	changes  int // of the set of candidates, counted
}

// departed is the account with a worker process that left: it may only have been out of reach, and comes
// back with everything that it received.
type departed struct {
	incarnation int64
	stream      stream
	since       time.Duration
}

func newNodeTable() nodeTable {
	return nodeTable{byName: map[string]int{}, departed: map[string]departed{}}
}

// add reserves an index for a worker that was not known.
func (t *nodeTable) add(n cluster.Node) int {
	index := len(t.slots)
	if last := len(t.free) - 1; last >= 0 {
		index, t.free = t.free[last], t.free[:last]
	} else {
		t.slots = append(t.slots, node{})
	}
	t.slots[index] = node{Node: n, present: true, stream: stream{number: t.base}}
	if d, ok := t.departed[n.Name]; ok && d.incarnation == n.Incarnation {
		t.slots[index].stream, t.slots[index].givenUp = d.stream, d.stream.number
	}
	delete(t.departed, n.Name)
	t.byName[n.Name] = index
	return index
}

// remove releases a worker's index and sets its account aside.
func (t *nodeTable) remove(now time.Duration, index int) {
	n := &t.slots[index]
	delete(t.byName, n.Name)
	if n.missed {
		t.missed--
	}
	if n.stream.number > t.base {
		t.departed[n.Name] = departed{n.Incarnation, stream{number: n.stream.number, placed: n.stream.placed}, now}
	}
	*n = node{}
	t.free = append(t.free, index)
}

// list notes that the newest roster has a worker, as this process.
func (t *nodeTable) list(index int, incarnation int64) {
	n := &t.slots[index]
	if n.missed {
		n.missed = false
		t.missed--
	}
	n.listed, n.rowsOf = true, incarnation
}

// forget drops the accounts of workers that stayed away for long.
func (t *nodeTable) forget(now, limit time.Duration) {
	for name, d := range t.departed {
		if now-d.since > limit {
			delete(t.departed, name)
		}
	}
}

// takesPlacements reports whether the node at index is a candidate.
func (t *nodeTable) takesPlacements(index int) bool {
	n := &t.slots[index]
	return n.present && !n.Draining && !n.suspect
}

// at returns the node at index if it is the given process of it.
func (t *nodeTable) at(index int, incarnation int64) (*node, bool) {
	if index < 0 || index >= len(t.slots) {
		return nil, false
	}
	n := &t.slots[index]
	return n, n.present && n.Incarnation == incarnation
}
