package schedulerd

import (
	"context"
	"fmt"

	"dodoor/internal/cluster"
)

// Switched ends Run when the scheduler was told to run another policy: whoever runs the service starts a new one, which
// shares nothing with the one that ended.
type Switched struct {
	Policy string
	Seed   uint64
}

func (s Switched) Error() string {
	return fmt.Sprintf("it was told to run policy %s with seed %d", s.Policy, s.Seed)
}

// SwitchPolicy makes the service start anew under another policy and seed. It fails with cluster.Invalid where the policy
// does not exist or this service keeps its own, with cluster.Draining when it ends anyway, and with cluster.Overloaded
// while it holds tasks: a task is placed by one policy from its first attempt to its last. Without a journal, results that nobody
// collects within a second are dropped, as at every end.
func (d *Daemon) SwitchPolicy(_ context.Context, policy string, seed uint64) error {
	if d.cfg.MayRun == nil {
		return cluster.Errorf(cluster.Invalid, "scheduler %s keeps its policy: it was not started from an inventory (-as)", d.self.Name)
	}
	if err := d.cfg.MayRun(policy); err != nil {
		return cluster.Errorf(cluster.Invalid, "scheduler %s: %v", d.self.Name, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.leaving {
		return cluster.Errorf(cluster.Draining, "scheduler %s is about to end, or to start anew already", d.self.Name)
	}
	if n := d.replica.Pending(); n > 0 {
		return cluster.Errorf(cluster.Overloaded, "scheduler %s holds %d tasks: another policy can take over when it is idle", d.self.Name, n)
	}
	d.leaving = true
	d.replica.Draining() // from now on nothing comes in
	d.switches <- Switched{policy, seed}
	return nil
}
