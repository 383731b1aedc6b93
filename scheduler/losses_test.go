package scheduler

import (
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// When many machines die at once, a scheduler learns of each of them as it tries it. A task that none of
// them got is not lost, however many they are; one that may have run on MaxAttempts of them is.
func TestManyMachinesDieAtOnce(t *testing.T) {
	for name, arrived := range map[string]bool{"nothing arrived": false, "everything arrived": true} {
		t.Run(name, func(t *testing.T) {
			cfg := testConfig()
			r := replicaWith(t, cfg, paperPolicy(t), paperNodes(12))
			d := submit(t, r, 0, request("a", 1, 1, 1000))
			for i := range 11 {
				attempted := d.Assignment.Number
				if !arrived {
					attempted--
				}
				actions := r.NodeDown(time.Duration(i)*time.Millisecond, d.Node, 1, attempted)
				if arrived && i == cfg.MaxAttempts-1 {
					records, _ := collectAll(t, r, 0)
					if len(records) != 1 || records[0].Outcome != cluster.Lost {
						t.Fatalf("after %d losses: %+v", i+1, records)
					}
					return
				}
				if len(actions.Send) != 1 || actions.Send[0].Node == d.Node {
					t.Fatalf("machine %d died: %d dispatches", i+1, len(actions.Send))
				}
				d = actions.Send[0]
			}
			acknowledge(r, time.Second, d)
			finish(t, r, time.Minute, d, cluster.Finished)
			if records, _ := collectAll(t, r, 0); len(records) != 1 || records[0].Outcome != cluster.Finished || records[0].Attempts != 12 {
				t.Fatalf("the last machine ran it: %+v", records)
			}
		})
	}
}
