package scheduler

import (
	"slices"

	"dodoor/internal/cluster"
)

// line is placements that wait for a worker, first in, first out. Most streams are idle most of the time,
// so a replica has one for every stream that something waits for, not for every stream.
type line struct {
	items []Dispatch
	head  int
	bare  []cluster.Command // in the message under way, without their templates
}

// keptLine is the largest line that is used again: a burst may leave one of any size behind.
const keptLine = 128

func (l *line) len() int { return len(l.items) - l.head }

func (l *line) push(d *Dispatch) { l.items = append(l.items, *d) }

// first returns the first n.
func (l *line) first(n int) []Dispatch { return l.items[l.head : l.head+n] }

// drop removes the first n. The others move up once they are fewer than what has left.
func (l *line) drop(n int) {
	clear(l.items[l.head : l.head+n]) // commands may be large
	l.head += n
	if l.head >= l.len() {
		left := copy(l.items, l.items[l.head:])
		clear(l.items[left:])
		l.items = l.items[:left]
		l.head = 0
	}
}

// strip returns a command without its template, in a message of n placements at most.
func (l *line) strip(c *cluster.Command, n int) *cluster.Command {
	if cap(l.bare) < n {
		l.bare = slices.Grow(l.bare, n) // those that the message has already stay where they are
	}
	l.bare = append(l.bare, *c)
	bare := &l.bare[len(l.bare)-1]
	bare.Template = nil
	return bare
}

func (l *line) release(into *cluster.Spare[line]) {
	if cap(l.items) <= keptLine {
		clear(l.items)
		clear(l.bare[:cap(l.bare)])
		l.items, l.head = l.items[:0], 0
		into.Put(l)
	}
}
