package drive

import (
	"context"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// look asks the data service how the cluster is: the state of every node is written down, as it was last heard, and the
// client learns which schedulers are there. What does not answer in time leaves a gap in nodes.csv; the tasks do not
// depend on it.
func (r *run) look(ctx context.Context) ([]cluster.SchedulerRef, error) {
	status, err := r.cfg.Data.Status(ctx)
	if err == nil && r.sampling {
		r.sampling = r.sample(&status)
	}
	return status.Schedulers, err
}

// sample writes the state of every node; false: that cannot be done any more.
func (r *run) sample(status *cluster.ClusterStatus) bool {
	now := r.session.Now()
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
