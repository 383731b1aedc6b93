package drive

import (
	"context"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/poll"
)

const lookEvery = time.Second // between two looks at the cluster

// look asks the data service again and again how the cluster is: the state of every node is written down, as it was
// last heard, and the client learns which schedulers are there. What does not answer in time changes nothing.
func (r *run) look() {
	sampling := true
	poll.Every(r.calls, lookEvery, func() {
		call, cancel := context.WithTimeout(r.calls, lookEvery)
		status, err := r.cfg.Data.Status(call)
		cancel()
		if err != nil {
			return // a gap in nodes.csv; the tasks do not depend on it
		}
		if r.cfg.Connect != nil {
			r.step(func(now time.Duration) *generator.Actions { return r.client.Members(now, status.Schedulers) })
		}
		if sampling {
			sampling = r.sample(&status)
		}
	})
}

// sample writes the state of every node; false: that cannot be done any more.
func (r *run) sample(status *cluster.ClusterStatus) bool {
	now := r.now()
	for i := range status.Nodes {
		if err := r.writeSample(&status.Nodes[i], now); err != nil {
			r.cfg.Log.Warn("node samples end here", "error", err)
			return false
		}
	}
	return true
}

func (r *run) writeSample(n *cluster.NodeStatus, now time.Duration) error {
	if n.Report == nil {
		return nil
	}
	return r.dir.Samples.Write(&generator.NodeSample{
		Time: now, Worker: n.Node.Name, Class: n.Node.Class,
		Cores: n.Report.RunningDemand[cluster.Cores], Memory: n.Report.RunningDemand[cluster.Memory],
		Queued: n.Report.Queued, Running: n.Report.Running,
	})
}
