package rpc

import (
	"math"
	"net"
	"strconv"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func schedulerRef(s *cluster.SchedulerRef) dodoor.SchedulerRef {
	return dodoor.SchedulerRef{Name: &s.Name, Address: &s.Address, Incarnation: &s.Incarnation, Riders: &s.Riders, Resumes: &s.Resumes}
}

func (e encoder) schedulerRef(s *cluster.SchedulerRef) *dodoor.SchedulerRef {
	ref := schedulerRef(s)
	return &ref
}

func (d *decoder) wholeSchedulerRef(w *dodoor.SchedulerRef) cluster.SchedulerRef {
	return d.schedulerRef("scheduler", -1, w)
}

func (d *decoder) schedulerRef(field string, index int, w *dodoor.SchedulerRef) (s cluster.SchedulerRef) {
	if w == nil {
		d.missing(field)
		return s
	}
	d.enter(field, index)
	defer d.leave()
	s.Name = d.name("name", w.Name)
	s.Address = d.address("address", w.Address)
	s.Incarnation = d.incarnation("incarnation", w.Incarnation)
	s.Riders, s.Resumes = flag(w.Riders), flag(w.Resumes)
	return s
}

// address returns a required host:port that others can dial: a service that listens on every
// address has to say under which one it is reached.
func (d *decoder) address(field string, v *string) string {
	address := d.name(field, v)
	if address == "" {
		return ""
	}
	host, port, err := net.SplitHostPort(address)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || host == "" || bad != nil || n == 0 {
		d.fail(field, "is %q: must be host:port, with a port from 1 to 65535", address)
		return ""
	}
	return address
}

func (e encoder) node(n *cluster.Node) *dodoor.Node {
	return &dodoor.Node{
		Name: &n.Name, Address: &n.Address, NodeClass: &n.Class,
		Capacity: e.amounts(&dodoor.Amounts{}, &n.Capacity), Slots: narrow(int64(n.Slots)),
		Incarnation: &n.Incarnation, Draining: &n.Draining,
	}
}

func (d *decoder) wholeNode(w *dodoor.Node) cluster.Node { return d.node("node", -1, w) }

// registered is the reply to the registration of a node.
func (d *decoder) registered(w int64) int64 { return d.incarnation("incarnation", &w) }

func (d *decoder) node(field string, index int, w *dodoor.Node) (n cluster.Node) {
	if w == nil {
		d.missing(field)
		return n
	}
	d.enter(field, index)
	defer d.leave()
	n.Name = d.name("name", w.Name)
	n.Address = d.address("address", w.Address)
	n.Class = d.name("node_class", w.NodeClass)
	n.Capacity = d.amounts("capacity", w.Capacity, amount)
	n.Slots = d.int32("slots", w.Slots, 1, math.MaxInt32)
	n.Incarnation = d.incarnation("incarnation", w.Incarnation)
	n.Draining = flag(w.Draining)
	return n
}

func (e encoder) roster(r *cluster.Roster) *dodoor.Roster {
	if r == nil {
		return nil
	}
	w := &dodoor.Roster{Version: &r.Version, Nodes: make([]*dodoor.Node, len(r.Nodes)), Schedulers: r.Schedulers, Home: r.Home}
	for i := range r.Nodes {
		w.Nodes[i] = e.node(&r.Nodes[i])
	}
	return w
}

func (d *decoder) roster(w *dodoor.Roster) *cluster.Roster {
	if w == nil {
		return nil
	}
	d.enter("roster", -1)
	defer d.leave()
	r := &cluster.Roster{Version: d.count("version", w.Version)}
	n := d.length("nodes", len(w.Nodes), maxNodes)
	if n == 0 {
		return r
	}
	r.Nodes = make([]cluster.Node, n)
	for i := range r.Nodes {
		r.Nodes[i] = d.node("nodes", i, w.Nodes[i])
	}
	d.homes(r, w)
	return r
}

// homes checks the home assignment: one position in the list of schedulers, or -1, per node.
func (d *decoder) homes(r *cluster.Roster, w *dodoor.Roster) {
	if len(w.Home) == 0 {
		return
	}
	if len(w.Home) != len(r.Nodes) {
		d.fail("home", "has %d entries for %d nodes: there must be one for each", len(w.Home), len(r.Nodes))
		return
	}
	for i, name := range w.Schedulers {
		w.Schedulers[i] = d.name("schedulers", &name)
	}
	for _, home := range w.Home {
		if home < -1 || int(home) >= len(w.Schedulers) {
			d.fail("home", "is %d: must be -1 or a position in a list of %d schedulers", home, len(w.Schedulers))
			return
		}
	}
	r.Schedulers, r.Home = w.Schedulers, w.Home
}

func (e encoder) clusterStatus(c cluster.ClusterStatus) *dodoor.ClusterStatus {
	w := &dodoor.ClusterStatus{Version: &c.Version, Decisions: &c.Decisions}
	for i := range c.Nodes {
		n := &c.Nodes[i]
		w.Nodes = append(w.Nodes, &dodoor.NodeStatus{
			Node: e.node(&n.Node), Load: e.load(&loadMessage{}, &n.Load), Report: e.report(n.Report),
			HeardMsAgo: optionalSpan(n.Heard, millis),
		})
	}
	for i := range c.Schedulers {
		w.Schedulers = append(w.Schedulers, e.schedulerRef(&c.Schedulers[i]))
	}
	return w
}

func (d *decoder) clusterStatus(w *dodoor.ClusterStatus) cluster.ClusterStatus {
	c := cluster.ClusterStatus{Version: d.count("version", w.Version), Decisions: d.count("decisions", w.Decisions)}
	for i := range d.length("nodes", len(w.Nodes), maxNodes) {
		d.enter("nodes", i)
		c.Nodes = append(c.Nodes, d.nodeStatus(w.Nodes[i]))
		d.leave()
	}
	for i := range d.length("schedulers", len(w.Schedulers), maxItems) {
		c.Schedulers = append(c.Schedulers, d.schedulerRef("schedulers", i, w.Schedulers[i]))
	}
	return c
}

func (d *decoder) nodeStatus(w *dodoor.NodeStatus) cluster.NodeStatus {
	n := cluster.NodeStatus{
		Node: d.node("node", -1, w.Node), Load: d.load("load", w.Load, wrapped), Report: d.rider(w.Report), Heard: -1,
	}
	if w.HeardMsAgo != nil {
		n.Heard = d.millis("heard_ms_ago", w.HeardMsAgo)
	}
	return n
}
