package scheduler

import (
	"slices"
	"sort"
	"time"

	"dodoor/internal/cluster"
)

// ledger is the tasks of a job by their index: what is left of one in 40 bytes, without a pointer. Tasks come roughly
// in order, so they are in blocks, and most are appended.
type ledger struct {
	blocks []*block
	n      int
}

// blockSize is the most entries of a block.
const blockSize = 256

// block is a run of entries in order.
type block struct {
	entries []entry
	bad     int // of them ended otherwise than well
}

// entry is one task of a job. While it is open its task knows everything else.
type entry struct {
	index    int64
	run      time.Duration
	printed  int64
	exit     int32
	worker   workerID
	attempts int32
	outcome  cluster.Outcome // NoOutcome: it is open
}

// bad reports whether a task ended otherwise than well.
func (e *entry) bad() bool { return e.outcome > cluster.Finished }

// at returns the block that has, or would take, an index, and where in it.
func (l *ledger) at(index int64) (b, i int) {
	b = max(sort.Search(len(l.blocks), func(b int) bool { return l.blocks[b].entries[0].index > index })-1, 0)
	if b < len(l.blocks) {
		in := l.blocks[b].entries
		i = sort.Search(len(in), func(i int) bool { return in[i].index >= index })
	}
	return b, i
}

// find returns the entry of an index; nil: there is none.
func (l *ledger) find(index int64) (*block, *entry) {
	b, i := l.at(index)
	if b == len(l.blocks) || i == len(l.blocks[b].entries) || l.blocks[b].entries[i].index != index {
		return nil, nil
	}
	return l.blocks[b], &l.blocks[b].entries[i]
}

// insert adds an open entry for an index that has none.
func (l *ledger) insert(index int64) {
	l.n++
	b, i := l.at(index)
	switch {
	case b == len(l.blocks), b == len(l.blocks)-1 && i == blockSize:
		l.blocks = append(l.blocks, &block{})
		b, i = len(l.blocks)-1, 0
	case len(l.blocks[b].entries) == blockSize:
		l.split(b)
		b, i = l.at(index)
	}
	l.blocks[b].entries = slices.Insert(l.blocks[b].entries, i, entry{index: index})
}

// split makes two of a full block.
func (l *ledger) split(b int) {
	full := l.blocks[b].entries
	upper := &block{entries: slices.Clone(full[blockSize/2:])}
	l.blocks[b] = &block{entries: slices.Clone(full[:blockSize/2])}
	l.blocks = slices.Insert(l.blocks, b+1, upper)
	for _, half := range l.blocks[b : b+2] {
		for i := range half.entries {
			if half.entries[i].bad() {
				half.bad++
			}
		}
	}
}

// set changes the entry of a task that is there.
func (l *ledger) set(e entry) {
	b, old := l.find(e.index)
	if old.bad() {
		b.bad--
	}
	if e.bad() {
		b.bad++
	}
	*old = e
}

// from calls yield for the entries of an index and higher ones, in order, until it returns false; badOnly leaves out, block by
// block, what did not end otherwise than well.
func (l *ledger) from(index int64, badOnly bool, yield func(e *entry) bool) {
	b, i := l.at(index)
	for ; b < len(l.blocks); b, i = b+1, 0 {
		if badOnly && l.blocks[b].bad == 0 {
			continue
		}
		for ; i < len(l.blocks[b].entries); i++ {
			if e := &l.blocks[b].entries[i]; (!badOnly || e.bad()) && !yield(e) {
				return
			}
		}
	}
}
