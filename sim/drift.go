package sim

import "dodoor/internal/cluster"

// DurationDrift is a fault of the paper's prototype, reproduced on purpose: resetting a scheduler's delta
// forgets its durations. Every flush therefore adds the durations of everything that the scheduler ever
// placed on a node again, until the node's next report overwrites the sum. Its nodes report when a task has
// ended; they have no heartbeats.
const DurationDrift = "prototype-duration-drift"

// Quirks lists the faults that can be reproduced.
func Quirks() []string { return []string{DurationDrift} }

// drift is D of every node as the prototype's data service would have it. The delta's P is cumulative,
// so it is what the prototype adds.
type drift struct {
	duration map[string]int64 // by node
	names    []string         // of the roster's nodes, as snapshots number them
}

func newDrift(nodes []cluster.Node) *drift {
	d := &drift{duration: map[string]int64{}}
	for i := range nodes {
		d.names = append(d.names, nodes[i].Name)
	}
	return d
}

func (d *drift) flushed(delta *cluster.Delta) {
	for i := range delta.Placed {
		p := &delta.Placed[i]
		d.duration[p.Node] += p.Placed.Duration
	}
}

func (d *drift) reported(r *cluster.Report) { d.duration[r.Node] = r.Load.Duration }

// distort puts the drifted durations into a snapshot.
func (d *drift) distort(s *cluster.Snapshot) {
	if s.Roster != nil {
		d.names = d.names[:0]
		for i := range s.Roster.Nodes {
			d.names = append(d.names, s.Roster.Nodes[i].Name)
		}
	}
	for j, position := range s.Node {
		s.Load[j].Duration = d.duration[d.names[position]]
	}
}
