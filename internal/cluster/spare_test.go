package cluster

import "testing"

func TestSpareMemoryIsUsedAgainAndBounded(t *testing.T) {
	var s Spare[int]
	first := s.Take()
	s.Put(first)
	if s.Take() != first {
		t.Error("memory that was put back was not used again")
	}
	for range 2 * spares {
		s.Put(new(int))
	}
	if len(s.free) != spares {
		t.Errorf("%d values are kept, want %d", len(s.free), spares)
	}
}
