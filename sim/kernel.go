package sim

import "time"

// kernel is the virtual clock: what is due happens in the order of (time, sequence), so that a run is
// the same every time. Most delays are constants, and the clock does not go back, so what is due after
// the same delay comes due in the order in which it was scheduled: a lane is a first-in first-out line
// of those, and only what fits no lane goes into the heap.
type kernel struct {
	now   time.Duration
	seq   uint64
	lanes [lanes]lane
	heap  []entry // 4-ary, least first
	done  int64   // events that have happened
}

// entry is one event on the clock.
type entry struct {
	at  time.Duration
	seq uint64
	m   *message
}

func (e *entry) before(o *entry) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// lane is a line of events in the order of their times: a ring buffer.
type lane struct {
	slots []entry // len is a power of two, or 0
	head  int
	n     int
}

// The lanes. A wrong choice costs time, never order.
const (
	flightLane = iota
	schedulerLane
	dataLane
	workerLane
	timerLane
	beatLane
	lanes
)

// after schedules m in d from now.
func (k *kernel) after(d time.Duration, hint int, m *message) {
	k.seq++
	e := entry{k.now + d, k.seq, m}
	l := &k.lanes[hint]
	if l.n > 0 && e.at < l.slots[(l.head+l.n-1)&(len(l.slots)-1)].at {
		k.push(e)
		return
	}
	l.push(e)
}

// onHeap schedules m in d from now, for delays that follow no pattern.
func (k *kernel) onHeap(d time.Duration, m *message) {
	k.seq++
	k.push(entry{k.now + d, k.seq, m})
}

// next advances the clock to the next event and returns it, or nil when nothing is left to happen.
func (k *kernel) next() *message {
	var first *entry
	from := -1
	if len(k.heap) > 0 {
		first = &k.heap[0]
	}
	for i := range k.lanes {
		l := &k.lanes[i]
		if l.n > 0 && (first == nil || l.slots[l.head].before(first)) {
			first, from = &l.slots[l.head], i
		}
	}
	if first == nil {
		return nil
	}
	m := first.m
	k.now = first.at
	k.done++
	if from >= 0 {
		k.lanes[from].pop()
	} else {
		k.pop()
	}
	return m
}

func (l *lane) push(e entry) {
	if l.n == len(l.slots) {
		slots := make([]entry, max(64, 2*len(l.slots)))
		for i := range l.n {
			slots[i] = l.slots[(l.head+i)&(len(l.slots)-1)]
		}
		l.slots, l.head = slots, 0
	}
	l.slots[(l.head+l.n)&(len(l.slots)-1)] = e
	l.n++
}

func (l *lane) pop() {
	l.slots[l.head].m = nil
	l.head = (l.head + 1) & (len(l.slots) - 1)
	l.n--
}

func (k *kernel) push(e entry) {
	k.heap = append(k.heap, e)
	i := len(k.heap) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&k.heap[parent]) {
			break
		}
		k.heap[i] = k.heap[parent]
		i = parent
	}
	k.heap[i] = e
}

func (k *kernel) pop() {
	last := len(k.heap) - 1
	e := k.heap[last]
	k.heap[last].m = nil
	k.heap = k.heap[:last]
	if last == 0 {
		return
	}
	i := 0
	for {
		child := 4*i + 1
		if child >= last {
			break
		}
		for c, end := child+1, min(child+4, last); c < end; c++ {
			if k.heap[c].before(&k.heap[child]) {
				child = c
			}
		}
		if !k.heap[child].before(&e) {
			break
		}
		k.heap[i] = k.heap[child]
		i = child
	}
	k.heap[i] = e
}
