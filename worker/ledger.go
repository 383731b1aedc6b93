package worker

import "dodoor/internal/cluster"

// ledger books reservations against a node's capacity: a running task holds its demand in every
// dimension, the devices among it one by one, and one slot ("tasks are admitted only when their
// requested CPU and memory can be reserved against residual server capacity", in parallel "up to the
// node's core-level concurrency limit", Sec. 4.2). Amounts are integers, so what is released is exactly
// what was reserved.
type ledger struct {
	capacity cluster.Resources
	slots    int
	reserved cluster.Resources
	devices  cluster.Devices
	running  int
}

// admits reports whether demand can be reserved now.
func (l *ledger) admits(demand *cluster.Resources) bool {
	residual := l.capacity.Sub(l.reserved)
	return l.running < l.slots && demand.FitsIn(&residual) && l.devices.Fits(demand)
}

// exceeds returns a dimension in which demand is more than the node has at all.
func (l *ledger) exceeds(demand *cluster.Resources) (dimension int, never bool) {
	for k := range demand {
		if demand[k] > l.capacity[k] {
			return k, true
		}
	}
	return 0, false
}

// reserve books a demand that fits, and returns the devices that serve it.
func (l *ledger) reserve(demand *cluster.Resources) []cluster.Device {
	l.reserved = l.reserved.Add(*demand)
	l.running++
	return l.devices.Assign(demand)
}

// release is the end of what reserve booked.
func (l *ledger) release(demand *cluster.Resources, held []cluster.Device) {
	l.reserved = l.reserved.Sub(*demand)
	l.running--
	l.devices.Release(demand, held)
}
