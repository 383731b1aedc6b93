package scheduler

// shelf is ended tasks in the order of their ends.
type shelf struct {
	ring   []*ended // oldest first
	packed int      // of the ring, the oldest; or they are left to the journal
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
