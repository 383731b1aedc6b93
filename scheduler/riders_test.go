package scheduler

import (
	"testing"

	"dodoor/internal/cluster"
)

// A rider counts for a policy that wants fresh loads, when it says what this process's placements it includes, among
// those of others, and when it is newer than what the view has.
func TestWhichRidersCount(t *testing.T) {
	received := func(scheduler string, incarnation int64) cluster.Received {
		return cluster.Received{Scheduler: scheduler, Incarnation: incarnation, Number: 1}
	}
	own, other, former := received("s1", testIncarnation), received("s2", testIncarnation), received("s1", testIncarnation-1)
	for _, c := range []struct {
		what   string
		policy Policy
		report *cluster.Report
		want   int64
	}{
		{"none", freshest{paperPolicy(t)}, nil, 1},
		{"own", freshest{paperPolicy(t)}, &cluster.Report{Sequence: 6, Received: []cluster.Received{own}}, 50},
		{"own behind others", freshest{paperPolicy(t)}, &cluster.Report{Sequence: 6, Received: []cluster.Received{other, former, own}}, 50},
		{"others alone", freshest{paperPolicy(t)}, &cluster.Report{Sequence: 6, Received: []cluster.Received{other, former}}, 1},
		{"as old as the view", freshest{paperPolicy(t)}, &cluster.Report{Sequence: 5, Received: []cluster.Received{own}}, 0},
		{"for a policy that does not want it", asking{paperPolicy(t), Wants{Loads: Corrected}},
			&cluster.Report{Sequence: 6, Received: []cluster.Received{own}}, 1},
	} {
		nodes := paperNodes(1)
		r := replicaWith(t, testConfig(), c.policy, nodes)
		d := submit(t, r, 0, request("a", 1, 1, 1))
		if c.want == 0 { // the snapshot is as new as the rider, and includes the placement on its way
			s := snapshotOf(2, nodes, []cluster.Load{{}})
			s.ReportSequence[0], s.OwnNumber[0] = 5, 1
			if _, err := r.Push(0, s); err != nil {
				t.Fatal(err)
			}
		}
		if c.report != nil {
			c.report.Node, c.report.Incarnation, c.report.Load = "w0", 1, cluster.Load{Tasks: 50}
		}
		r.Acknowledged(0, []Dispatch{d}, &cluster.EnqueueReply{Report: c.report})
		if got := r.View().Node(0).Load.Tasks; got != c.want {
			t.Errorf("%s: the view has %d tasks, want %d", c.what, got, c.want)
		}
	}
}
