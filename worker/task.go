package worker

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// task is an execution that the node holds: queued, running, or ended with a completion that some
// scheduler has not acknowledged yet.
type task struct {
	id      string
	prog    *program
	mode    string
	shape   cluster.Shape
	guessed bool  // nobody said how long it runs
	takes   int64 // what it was given, where that is not the estimate; 0: the estimate
	scale   float64
	user    string // submitted it; empty: nobody in particular

	command *cluster.Command // with the node's own template; nil: the type says what runs
	attempt int              // 1 is the first
	devices []cluster.Device // that it holds while it runs

	phase                    cluster.Phase // Queued, Running or Ended
	rif                      int64         // tasks on the node when it arrived, itself excluded
	enqueued, started, ended time.Duration
	result                   Result // once ended

	place    int           // among the running ones
	reported time.Duration // when a report is due next, because it still runs
	beyond   int64         // milliseconds that it counts more than its estimate, as of the last sum

	// Everybody who placed it and has not acknowledged its completion. More than one when a client
	// tried again at another scheduler: the task runs once, and each of them is told.
	owners []owner
	single [1]owner // the usual owners, without another allocation

	turn         int64 // in the line: tasks that joined it before
	pending      int   // completions that wait in an outbox
	older, newer *task // in the order of acceptance
}

// owner is a placement of a task: a stream and the placement's number in it.
type owner struct {
	stream *stream
	number int64
}

// ownerOf returns the index of s among t's owners, or -1.
func (t *task) ownerOf(s *stream) int {
	return slices.IndexFunc(t.owners, func(o owner) bool { return o.stream == s })
}

// own adds a placement. A scheduler that placed the task before (and gave that placement up) goes on
// under the newer number.
func (t *task) own(s *stream, number int64) {
	if i := t.ownerOf(s); i >= 0 {
		t.owners[i].number = number
		return
	}
	t.owners = append(t.owners, owner{s, number})
}

// disown removes a placement, unless a newer one of the same scheduler has replaced it.
func (t *task) disown(o owner) {
	if i := slices.Index(t.owners, o); i >= 0 {
		t.owners = slices.Delete(t.owners, i, i+1)
	}
}

// same reports whether an assignment asks for the execution that t is. Two schedulers may expect it to last differently, and have
// learned that it needs more or less cores and memory: it runs with what the first of them said.
func (t *task) same(a *cluster.Assignment) bool {
	demand := a.Shape.Demand
	demand[cluster.Cores], demand[cluster.Memory] = t.shape.Demand[cluster.Cores], t.shape.Demand[cluster.Memory]
	return t.prog.name == a.Type && t.mode == cluster.CanonicalMode(a.Mode) && t.shape.Demand == demand && t.scale == a.TimeScale &&
		t.user == a.User && t.sameCommand(a.Command)
}

// holding is every task that the node holds, by id and in the order of acceptance.
type holding struct {
	byID           map[string]*task
	listing        cluster.Listing[task]
	oldest, newest *task
	spare          cluster.Spare[task]
}

func newHolding() holding {
	return holding{byID: map[string]*task{}, listing: cluster.NewListing(func(t *task) string { return t.id })}
}

// add takes a task. A later execution of an id takes the place of an earlier one, which stays as a completion alone.
func (h *holding) add(t *task) {
	if earlier := h.byID[t.id]; earlier != nil {
		h.listing.Remove(earlier)
	}
	h.byID[t.id] = t
	h.listing.Add(t)
	t.older = h.newest
	if h.newest != nil {
		h.newest.newer = t
	} else {
		h.oldest = t
	}
	h.newest = t
}

// remove forgets t; an id that already names a later execution stays with that.
func (h *holding) remove(t *task) {
	if h.byID[t.id] == t {
		delete(h.byID, t.id)
		h.listing.Remove(t)
	}
	if t.older != nil {
		t.older.newer = t.newer
	} else {
		h.oldest = t.newer
	}
	if t.newer != nil {
		t.newer.older = t.older
	} else {
		h.newest = t.older
	}
	t.older, t.newer = nil, nil
	h.spare.Put(t)
}
