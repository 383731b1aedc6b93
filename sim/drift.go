package sim

import "dodoor/internal/cluster"

// DurationDrift is a fault of the paper's prototype, reproduced on purpose: a scheduler never resets the
// durations that it has gathered, and sends those of all nodes with every flush. Each flush therefore adds,
// on every node, the durations of everything that the scheduler ever placed there again, until the node's next
// report overwrites the sum. Its nodes report when a task has ended; they have no heartbeats.
const DurationDrift = "prototype-duration-drift"

// Quirks lists what can be reproduced of the prototype: the fault, and the gaps of its generator, which the
// workload has (generator.Pacing) and which is the simulator's to know by name alone.
func Quirks() []string { return []string{DurationDrift, TruncatedGaps} }

// TruncatedGaps names the prototype's arrival gaps: whole milliseconds, rounded down.
const TruncatedGaps = "prototype-truncated-gaps"

// drift is D of every node as the prototype's data service would have it.
type drift struct {
	duration map[string]int64            // by node
	gathered map[string]map[string]int64 // by scheduler and node: what the scheduler never resets
	names    []string                    // of the roster's nodes, as snapshots number them
}

func newDrift(nodes []cluster.Node) *drift {
	d := &drift{duration: map[string]int64{}, gathered: map[string]map[string]int64{}}
	for i := range nodes {
		d.names = append(d.names, nodes[i].Name)
	}
	return d
}

// flushed adds all that a scheduler has gathered. The delta's P is cumulative, so that is the newest P of every
// node that the scheduler has placed on.
func (d *drift) flushed(delta *cluster.Delta) {
	all := d.gathered[delta.Scheduler]
	if all == nil {
		all = map[string]int64{}
		d.gathered[delta.Scheduler] = all
	}
	for i := range delta.Placed {
		p := &delta.Placed[i]
		all[p.Node] = p.Placed.Duration
	}
	for node, placed := range all {
		d.duration[node] += placed
	}
}

func (d *drift) reported(r *cluster.Report) { d.duration[r.Node] = r.Load.Duration }

// distort puts the drifted durations into a snapshot. It is to be a whole one: a flush changes every node.
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
