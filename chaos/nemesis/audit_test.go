package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// calming is how long accounts may take to become zero once every client has gone. The last thing that went wrong may have been
// over just before: who was silent for long has to be found again.
const calming = 20 * time.Second

// audit asks every service what it still has until it is nothing, or takes too long.
func (r *round) audit() chaos.History {
	ctx, cancel := context.WithTimeout(r.ctx, calming)
	defer cancel()
	for {
		left, err := r.left(ctx)
		if err == nil && len(left) == 0 {
			return nil
		}
		if !pause(ctx, 50*time.Millisecond) {
			if err != nil && r.ctx.Err() == nil {
				r.complain(fmt.Errorf("%v after the last client has gone: %w", calming, err))
			}
			return left
		}
	}
}

// left is what services have now. An error says that one does not answer, or does not know all others.
func (r *round) left(ctx context.Context) (left chaos.History, err error) {
	data := r.data()
	defer data.Close()
	status, err := data.Status(ctx)
	left = r.booked(left, sim.FaultDatastore, &status)
	if err == nil && len(status.Schedulers) != r.scenario.Schedulers {
		err = fmt.Errorf("the data service knows %d schedulers", len(status.Schedulers))
	}
	err = errors.Join(err, r.everybody(sim.FaultDatastore, &status), data.Settle(ctx))
	for _, name := range r.schedulers() {
		s := r.scheduler(name)
		defer s.Close()
		view, failure := s.View(ctx)
		err = errors.Join(err, failure, r.everybody(name, &view), s.Settle(ctx))
		left = r.booked(left, name, &view)
		tasks, failure := s.Tasks(ctx, cluster.TaskQuery{Max: 1000})
		err = errors.Join(err, failure)
		for i := range tasks {
			if tasks[i].Phase != cluster.Ended {
				left = append(left, chaos.Record{Kind: chaos.Left, At: r.now(), Scheduler: name, Task: tasks[i].ID})
			}
		}
	}
	for i := range r.scenario.Workers {
		name := r.scenario.Workers[i].Name
		w := r.worker(name)
		defer w.Close()
		state, failure := w.State(ctx)
		err = errors.Join(err, failure)
		if pending := state.Running + state.Queued; pending > 0 || state.Load != (cluster.Load{}) {
			left = append(left, chaos.Record{Kind: chaos.Left, At: r.now(), Worker: name, Pending: pending, Load: &state.Load})
		}
	}
	return left, err
}

// booked adds the accounts that are not zero.
func (r *round) booked(left chaos.History, of string, status *cluster.ClusterStatus) chaos.History {
	for i := range status.Nodes {
		if n := &status.Nodes[i]; n.Load != (cluster.Load{}) {
			left = append(left, chaos.Record{Kind: chaos.Left, At: r.now(), Of: of, Worker: n.Node.Name, Load: &n.Load})
		}
	}
	return left
}

// everybody fails for a list that lacks a worker.
func (r *round) everybody(who string, status *cluster.ClusterStatus) error {
	if n := len(status.Nodes); n != len(r.scenario.Workers) {
		return fmt.Errorf("%s knows %d of %d workers", who, n, len(r.scenario.Workers))
	}
	return nil
}
