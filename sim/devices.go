package sim

import (
	"slices"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// device is one of a node's, by its id.
type device struct {
	dimension int
	id        string
}

// mostOf is one device in thousandths.
const mostOf = 1000

// hand checks which devices an execution got, and books them: as many as it demanded, and none more than there is of it.
func (l *ledger) hand(s *worker.Start) {
	for k := cluster.FirstExtra; k < cluster.MaxDimensions; k++ {
		count, demand := cluster.DeviceCount(k, l.capacity[k]), s.Shape.Demand[k]
		if count == 0 || demand == 0 {
			continue
		}
		if l.devices == nil {
			l.devices, l.held = map[device]int64{}, map[string][]device{}
		}
		got := idsOf(s, k)
		if want := int((demand + mostOf - 1) / mostOf); len(got) != want || demand > mostOf && demand%mostOf != 0 {
			l.complain("node %s gives task %s the devices %q for a demand of %d thousandths", l.name, s.TaskID, got, demand)
		}
		for i, id := range got {
			at := device{k, id}
			_, used := l.devices[at]
			if l.devices[at] += min(demand, mostOf); l.devices[at] > mostOf || slices.Contains(got[:i], id) {
				l.complain("node %s gives task %s device %s, of which %d thousandths are in use then", l.name, s.TaskID, id, l.devices[at])
			}
			if !used && l.known(k) > count {
				l.complain("node %s gives task %s device %s, and has only %d", l.name, s.TaskID, id, count)
			}
			l.held[s.TaskID] = append(l.held[s.TaskID], at)
		}
	}
}

// known is how many devices of a dimension have ever been seen.
func (l *ledger) known(dimension int) (n int) {
	for at := range l.devices {
		if at.dimension == dimension {
			n++
		}
	}
	return n
}

func idsOf(s *worker.Start, dimension int) []string {
	for _, d := range s.Devices {
		if d.Dimension == dimension {
			return d.IDs
		}
	}
	return nil
}

// takeBack releases the devices of an execution.
func (l *ledger) takeBack(id string, demand *cluster.Resources) {
	for _, at := range l.held[id] {
		l.devices[at] -= min(demand[at.dimension], mostOf)
	}
	delete(l.held, id)
}

// inUse is how many devices are not free.
func (l *ledger) inUse() (n int) {
	for _, used := range l.devices {
		if used != 0 {
			n++
		}
	}
	return n
}
