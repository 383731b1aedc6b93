package sim

import "testing"

// A lane keeps its order when it grows, wherever its first event stands.
func TestLanesGrowInOrder(t *testing.T) {
	for taken := range 70 {
		var l lane
		next, first := uint64(0), uint64(0)
		push := func(n int) {
			for range n {
				l.push(entry{seq: next, m: &message{}})
				next++
			}
		}
		push(64)
		for range min(taken, 63) {
			l.pop()
			first++
		}
		for push(200); l.n > 0; l.pop() {
			if got := l.slots[l.head].seq; got != first {
				t.Fatalf("%d were taken: %d comes, want %d", taken, got, first)
			}
			first++
		}
		if first != next {
			t.Errorf("%d of %d events came", first, next)
		}
	}
}
