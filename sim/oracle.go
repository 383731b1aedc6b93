package sim

import (
	"math"
	"time"

	"dodoor/baselines"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// Oracle is a policy that exists in the simulator alone: it compares all nodes in their true state, with the
// true durations, and takes the earliest finish. No policy that sees less can expect to do better, one task
// at a time.
const Oracle = "oracle"

// truth is the future of every node, as the placements so far have settled it: a first-come first-served
// line without overtaking can be worked out in advance. All replicas share it.
type truth struct {
	sim   *Simulation
	nodes []timeline
}

// timeline is one node's future. A task starts when the one before it has started and the demand fits, so
// all that matters is what still runs when the last one starts.
type timeline struct {
	capacity cluster.Resources
	slots    int
	last     time.Duration // when the last one in the line starts
	reserved cluster.Resources
	devices  cluster.Devices
	ahead    cluster.Devices // memory of start, which looks ahead
	running  []running       // after last, by their ends
}

type running struct {
	until  time.Duration
	demand cluster.Resources
	held   []cluster.Device
}

func newTruth(s *Simulation) *truth {
	t := &truth{sim: s, nodes: make([]timeline, len(s.cfg.Nodes))}
	for i := range t.nodes {
		n := &s.cfg.Nodes[i]
		t.nodes[i] = timeline{capacity: n.Capacity, slots: n.Slots, devices: cluster.NewDevices(&n.Capacity)}
	}
	return t
}

// start returns when a task that is placed now would start.
func (l *timeline) start(now time.Duration, demand *cluster.Resources) time.Duration {
	at, reserved, devices := max(now, l.last), l.reserved, &l.devices
	if devices.Any() {
		devices = &l.ahead
		devices.Copy(&l.devices)
	}
	for i := 0; ; i++ {
		for i < len(l.running) && l.running[i].until <= at {
			reserved = reserved.Sub(l.running[i].demand)
			devices.Release(&l.running[i].demand, l.running[i].held)
			i++
		}
		free := l.capacity.Sub(reserved)
		if len(l.running)-i < l.slots && demand.FitsIn(&free) && devices.Fits(demand) {
			return at
		}
		reserved = reserved.Sub(l.running[i].demand)
		devices.Release(&l.running[i].demand, l.running[i].held)
		at = l.running[i].until
	}
}

// share is the part of the cores that is reserved once a task has started at a time.
func (l *timeline) share(at time.Duration, demand *cluster.Resources) float64 {
	cores := l.reserved[cluster.Cores] + demand[cluster.Cores]
	for i := range l.running {
		if l.running[i].until <= at {
			cores -= l.running[i].demand[cluster.Cores]
		}
	}
	return float64(cores) / float64(l.capacity[cluster.Cores])
}

// place adds a task that arrives now to the line. Of several that end as it starts, only as many have ended before as it
// has waited for: which devices it gets depends on that.
func (l *timeline) place(now, start, until time.Duration, demand cluster.Resources) {
	gone := 0
	for ; gone < len(l.running) && l.running[gone].until <= start; gone++ {
		r := &l.running[gone]
		free := l.capacity.Sub(l.reserved)
		if r.until == start && start > now && len(l.running)-gone < l.slots && demand.FitsIn(&free) && l.devices.Fits(&demand) {
			break
		}
		l.reserved = l.reserved.Sub(r.demand)
		l.devices.Release(&r.demand, r.held)
	}
	l.running = append(l.running[:0], l.running[gone:]...)
	l.last = start
	l.reserved = l.reserved.Add(demand)
	l.running = append(l.running, running{until, demand, l.devices.Assign(&demand)})
	for i := len(l.running) - 1; i > 0 && l.running[i].until < l.running[i-1].until; i-- {
		l.running[i], l.running[i-1] = l.running[i-1], l.running[i]
	}
}

// oracle is one replica's access to the truth.
type oracle struct {
	truth *truth
	names []string // of the view's nodes
	index []int32  // in the truth
	place [1]scheduler.Placement
}

// newPolicy builds a replica's policy.
func (s *Simulation) newPolicy() (scheduler.Policy, error) {
	if s.truth != nil {
		return &oracle{truth: s.truth}, nil
	}
	return baselines.New(s.cfg.Policy, s.cfg.Knobs, s.cfg.Workload.TimeScale())
}

// node returns the truth about a node of the view.
func (o *oracle) node(v *scheduler.View, i int) *timeline {
	for len(o.names) <= i {
		o.names, o.index = append(o.names, ""), append(o.index, -1)
	}
	if name := v.Node(i).Name; o.names[i] != name {
		o.names[i], o.index[i] = name, o.truth.sim.nodeIndex[name]
	}
	return &o.truth.nodes[o.index[i]]
}

// Submit places t where it finishes first.
func (o *oracle) Submit(now time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	best, bestStart, bestEnd := scheduler.NoNode, time.Duration(0), time.Duration(math.MaxInt64)
	var bestShape cluster.Shape
	arrival := now + o.truth.sim.cfg.Network.Delay
	for _, c := range v.Candidates() {
		i := int(c)
		if !v.Feasible(i, t) {
			continue
		}
		shape, _ := t.ShapeOn(v.Node(i).Class)
		l := o.node(v, i)
		start := l.start(arrival, &shape.Demand)
		if end := start + o.duration(t, v.Node(i).Class, &shape, l, start); end < bestEnd {
			best, bestStart, bestEnd, bestShape = i, start, end, shape
		}
	}
	if best == scheduler.NoNode {
		return scheduler.Decision{}
	}
	o.node(v, best).place(arrival, bestStart, bestEnd, bestShape.Demand)
	o.place[0] = scheduler.Placement{Task: t, Node: best}
	return scheduler.Decision{Place: o.place[:]}
}

// duration is how long the task will really run.
func (o *oracle) duration(t *cluster.Task, class cluster.ClassID, shape *cluster.Shape, l *timeline, start time.Duration) time.Duration {
	cfg := &o.truth.sim.cfg
	d := o.truth.sim.emulated(&worker.Start{Shape: *shape, Takes: t.TakesOn(class, shape.Duration), TimeScale: t.TimeScale, Seed: t.Seed})
	if cfg.Interference == 0 {
		return d
	}
	return time.Duration(float64(d) * (1 + cfg.Interference*l.share(start, &shape.Demand)))
}

// Wants nothing: it asks nobody and is told nothing, it knows.
func (o *oracle) Wants() scheduler.Wants { return scheduler.Wants{} }
