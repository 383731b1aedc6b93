package scheduler

import (
	"testing"

	"dodoor/internal/cluster"
)

// A line keeps the order, and needs no more memory than a few times what waits in it, however long it is in
// use without ever being empty.
func TestLine(t *testing.T) {
	var l line
	for i := range int64(10_000) {
		l.push(&Dispatch{Assignment: cluster.Assignment{Number: i}})
		if l.len() < 10 {
			continue
		}
		for j, d := range l.first(3) {
			if want := i - 9 + int64(j); d.Assignment.Number != want {
				t.Fatalf("number %d, want %d", d.Assignment.Number, want)
			}
		}
		l.drop(1)
	}
	if cap(l.items) > 64 {
		t.Errorf("room for %d, and 9 wait", cap(l.items))
	}
}

// A line that is empty again and again needs no more memory than one placement.
func TestALineThatIsEmptiedStaysShort(t *testing.T) {
	var l line
	for range 10_000 {
		l.push(&Dispatch{})
		l.drop(1)
	}
	if cap(l.items) > 1 {
		t.Errorf("room for %d, and at most 1 waited", cap(l.items))
	}
}

// Streams pass their line on; one that a burst has left behind is too large to keep.
func TestLinesAreSpared(t *testing.T) {
	var spare cluster.Spare[line]
	for n, kept := range map[int]bool{1: true, keptLine: true, keptLine + 1: false} {
		l := &line{items: make([]Dispatch, n)}
		l.release(&spare)
		if got := spare.Take() == l; got != kept {
			t.Errorf("a line of %d is kept: %v, want %v", n, got, kept)
		}
	}
}
