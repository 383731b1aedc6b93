package scheduler

// shelf is ended tasks in the order of their ends.
type shelf struct {
	ring   []*ended // oldest first
	packed int      // of the ring, the oldest
}

// unpacked is how many results of a shelf are not worth packing.
const unpacked = 4096

func (s *shelf) put(e *ended) { s.ring = append(s.ring, e) }

// drop removes the oldest n.
func (s *shelf) drop(n int) {
	if n > 0 {
		s.ring = append(s.ring[:0], s.ring[n:]...)
		clear(s.ring[len(s.ring) : len(s.ring)+n])
	}
	s.packed = max(0, s.packed-n)
}

// newest returns up to n tasks of two shelves, the one that ended last first.
func newest(a, b *shelf, n int) []*ended {
	var list []*ended
	for i, j := len(a.ring)-1, len(b.ring)-1; len(list) < n && (i >= 0 || j >= 0); {
		if j < 0 || i >= 0 && a.ring[i].cursor > b.ring[j].cursor {
			list = append(list, a.ring[i])
			i--
		} else {
			list = append(list, b.ring[j])
			j--
		}
	}
	return list
}
