package worker

// minRing is the smallest capacity of a ring, a power of two.
const minRing = 16

// ring is a first-in first-out buffer. It grows when it is full and shrinks when it is mostly empty,
// so that a burst leaves no memory behind.
type ring[T any] struct {
	slots []T // len is a power of two
	head  int
	n     int
}

func (r *ring[T]) len() int { return r.n }

// at returns the i-th oldest element.
func (r *ring[T]) at(i int) *T { return &r.slots[(r.head+i)&(len(r.slots)-1)] }

func (r *ring[T]) push(v T) {
	if r.n == len(r.slots) {
		r.resize(max(minRing, 2*len(r.slots)))
	}
	r.n++
	*r.at(r.n - 1) = v
}

// pop removes the oldest element of a ring that has one.
func (r *ring[T]) pop() T {
	var none T
	v := *r.at(0)
	*r.at(0) = none
	r.head = (r.head + 1) & (len(r.slots) - 1)
	r.n--
	if len(r.slots) > minRing && r.n <= len(r.slots)/4 {
		r.resize(len(r.slots) / 2)
	}
	return v
}

// remove takes the i-th oldest element out and closes the gap.
func (r *ring[T]) remove(i int) {
	for ; i > 0; i-- {
		*r.at(i) = *r.at(i - 1)
	}
	r.pop()
}

// drain empties the ring and returns what it held, oldest first.
func (r *ring[T]) drain() []T {
	all := make([]T, r.n)
	for i := range all {
		all[i] = *r.at(i)
	}
	*r = ring[T]{}
	return all
}

func (r *ring[T]) resize(size int) {
	slots := make([]T, size)
	for i := range r.n {
		slots[i] = *r.at(i)
	}
	r.slots, r.head = slots, 0
}
