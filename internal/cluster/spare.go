package cluster

// Spare is the memory of values that are not in use any more, for the next ones: a state machine that
// handles a stream of them allocates nothing in steady state. Its zero value is ready.
type Spare[T any] struct{ free []*T }

// spares bounds the memory that a burst leaves behind.
const spares = 1024

// Take returns memory for a value. It may hold an earlier one.
func (s *Spare[T]) Take() *T {
	last := len(s.free) - 1
	if last < 0 {
		return new(T)
	}
	v := s.free[last]
	s.free = s.free[:last]
	return v
}

// Put takes the memory of a value back that nobody refers to.
func (s *Spare[T]) Put(v *T) {
	if len(s.free) < spares {
		s.free = append(s.free, v)
	}
}
