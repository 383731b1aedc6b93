package cluster

// NodeSet is a set of dense node indices. Its zero value is empty, and so is a nil one to those who ask.
type NodeSet struct{ words []uint64 }

// Has reports whether node i is in the set.
func (s *NodeSet) Has(i int) bool {
	return s != nil && i>>6 < len(s.words) && s.words[i>>6]&(1<<(i&63)) != 0
}

// Add puts node i into the set.
func (s *NodeSet) Add(i int) {
	for len(s.words) <= i>>6 {
		s.words = append(s.words, 0)
	}
	s.words[i>>6] |= 1 << (i & 63)
}

// Clear takes all nodes out of the set.
func (s *NodeSet) Clear() { clear(s.words) }

// Remove takes node i out of the set.
func (s *NodeSet) Remove(i int) {
	if i>>6 < len(s.words) {
		s.words[i>>6] &^= 1 << (i & 63)
	}
}
