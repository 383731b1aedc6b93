package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"dodoor/generator"

	"dodoor/report/stats"
)

// timeline rebuilds from rows who waited and who ran where at every moment. Rows give the exact
// times, which samples do not.
type timeline struct {
	info    *generator.RunInfo
	classes []classLine
	byName  map[string]int
	byNode  map[string]int
	stays   []stay
	end     time.Duration // of the run, on the wall
}

type classLine struct {
	name       string
	nodes      int
	cores      float64 // of the whole class
	nodeCores  float64 // of one node; NaN: they differ
	placements int
}

// stay is a task's time at a worker; a bound that the task did not reach is Never.
type stay struct {
	class, node             int32
	cores                   int64 // millicores
	arrived, started, ended time.Duration
}

// Noise is how far the times of two rows of one node may be off each other: each row's times are sums
// of intervals that two clocks measured, and contain the flight of a message.
const Noise = 5 * time.Millisecond

// bins of the series over time: more than a column of a paper has room for does not help.
const bins = 150

func newTimeline(info *generator.RunInfo) *timeline {
	t := &timeline{info: info, byName: map[string]int{}, byNode: map[string]int{}}
	for _, c := range ClassesOf(info) {
		i, ok := t.byName[c.Name]
		if !ok {
			i = len(t.classes)
			t.byName[c.Name] = i
			t.classes = append(t.classes, classLine{name: c.Name, nodeCores: c.Cores})
		}
		line := &t.classes[i]
		line.nodes += c.Nodes
		line.cores += float64(c.Nodes) * c.Cores
		if line.nodeCores != c.Cores {
			line.nodeCores = math.NaN()
		}
	}
	return t
}

// ClassesOf orders the classes of a run by name: in run.json they stand in the order in which nodes
// registered, which differs from run to run.
func ClassesOf(info *generator.RunInfo) []generator.ClassInfo {
	return slices.SortedFunc(slices.Values(info.Classes), func(a, b generator.ClassInfo) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Cores, b.Cores), cmp.Compare(a.MemoryMB, b.MemoryMB),
			cmp.Compare(a.Slots, b.Slots), cmp.Compare(a.Nodes, b.Nodes))
	})
}

// add takes one row. What never reached a worker does not appear, nor does a class that run.json
// does not know.
func (t *timeline) add(r *generator.Row) {
	class, ok := t.byName[r.Class]
	if !ok || r.Enqueued == generator.Never {
		return
	}
	t.classes[class].placements++
	node, ok := t.byNode[r.Worker]
	if !ok {
		node = len(t.byNode)
		t.byNode[r.Worker] = node
	}
	s := stay{class: int32(class), node: int32(node), cores: r.Cores, arrived: r.Enqueued, started: r.Started, ended: r.Finished}
	if s.started == generator.Never { // it waited, and then was cancelled or timed out
		s.started, s.ended = r.Completed, r.Completed
	}
	if s.started == generator.Never || s.ended == generator.Never {
		return
	}
	t.stays = append(t.stays, s)
	t.end = max(t.end, s.ended)
}

// curves fills in what changes over time, and how much was blocked between the two moments.
func (t *timeline) curves(c *Curves, from, to time.Duration) {
	width := t.end.Seconds() / bins
	c.BinS = width * t.info.TimeScale
	c.Waiting = make([]float64, bins)
	c.Classes = make([]ClassCurve, len(t.classes))
	for i, line := range t.classes {
		c.Classes[i] = ClassCurve{Name: line.name, Placements: line.placements, Utilisation: make([]float64, bins), Queue: make([]float64, bins)}
	}
	for _, s := range t.stays {
		class, line := &c.Classes[s.class], &t.classes[s.class]
		spread(c.Waiting, width, s.arrived, s.started, 1)
		spread(class.Queue, width, s.arrived, s.started, 1/float64(line.nodes))
		if line.cores > 0 {
			spread(class.Utilisation, width, s.started, s.ended, float64(s.cores)/1000/line.cores)
		}
	}
	t.blocked(c, from, to)
}

// spread adds height over [from, to) to the means of bins.
func spread(series []float64, width float64, from, to time.Duration, height float64) {
	a, b := from.Seconds(), to.Seconds()
	if !(width > 0) || b <= a {
		return
	}
	for i := max(0, int(a/width)); i < len(series) && float64(i)*width < b; i++ {
		inside := min(b, float64(i+1)*width) - max(a, float64(i)*width)
		series[i] += height * max(0, inside) / width
	}
}

// change is what one moment does to a node.
type change struct {
	at      time.Duration
	waiting int
	cores   int64
}

// blocked goes through each node's history and adds up the cores that were free while a task waited.
func (t *timeline) blocked(c *Curves, from, to time.Duration) {
	slices.SortFunc(t.stays, func(a, b stay) int { return cmp.Compare(a.node, b.node) })
	free := make([]float64, len(t.classes)) // core-seconds
	for begin := 0; begin < len(t.stays); {
		end := begin
		for end < len(t.stays) && t.stays[end].node == t.stays[begin].node {
			end++
		}
		class := t.stays[begin].class
		capacity := int64(math.Round(t.classes[class].nodeCores * 1000))
		free[class] += blockedAt(t.stays[begin:end], capacity, from, to)
		begin = end
	}
	window := (to - from).Seconds()
	for i := range c.Classes {
		c.Classes[i].Blocked = stats.Ratio(free[i], t.classes[i].cores*window)
		if math.IsNaN(t.classes[i].nodeCores) {
			c.Classes[i].Blocked = math.NaN()
		}
	}
}

// blockedAt returns the core-seconds that were free at one node while a task waited there, in spells
// longer than the noise. Capacity is in millicores.
func blockedAt(stays []stay, capacity int64, from, to time.Duration) float64 {
	changes := make([]change, 0, 3*len(stays))
	for _, s := range stays {
		changes = append(changes, change{s.arrived, 1, 0}, change{s.started, -1, s.cores}, change{s.ended, 0, -s.cores})
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	var total, spell float64 // core-seconds, of all spells and of the present one
	var length time.Duration // of the present spell
	waiting, used, last := 0, int64(0), from
	for i, ch := range changes {
		now := max(last, min(ch.at, to))
		if waiting > 0 && used < capacity {
			length += now - last
			spell += (now - last).Seconds() * float64(capacity-used) / 1000
		}
		waiting, used, last = waiting+ch.waiting, used+ch.cores, now
		if i+1 < len(changes) && changes[i+1].at == ch.at {
			continue // what happens at one moment happens at once
		}
		if waiting == 0 || used >= capacity {
			if length > Noise {
				total += spell
			}
			length, spell = 0, 0
		}
	}
	return total
}
