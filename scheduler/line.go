package scheduler

import "dodoor/internal/cluster"

// line is placements that wait for a worker, first in, first out. Most streams are idle most of the time,
// so a replica has one for every stream that something waits for, not for every stream.
type line struct {
	items []Dispatch
	head  int
}

// keptLine is the largest line that is used again: a burst may leave one of any size behind.
const keptLine = 128

func (l *line) len() int { return len(l.items) - l.head }

func (l *line) push(d *Dispatch) { l.items = append(l.items, *d) }

// first returns the first n.
func (l *line) first(n int) []Dispatch { return l.items[l.head : l.head+n] }

// drop removes the first n. The others move up once they are fewer than what has left.
func (l *line) drop(n int) {
	l.head += n
	if l.head >= l.len() {
		l.items = l.items[:copy(l.items, l.items[l.head:])]
		l.head = 0
	}
}

func (l *line) release(into *cluster.Spare[line]) {
	if cap(l.items) <= keptLine {
		l.items, l.head = l.items[:0], 0
		into.Put(l)
	}
}
