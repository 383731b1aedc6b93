package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
)

// patience bounds how long a service may take to start anew, and everybody to hear of it.
const patience = 30 * time.Second

// restart has every scheduler start anew under the policy and the seed that it should run, and waits until all are
// back and know all workers. A cluster that is not what its configuration says is refused before anything changes.
func (l *lineup) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	if err := l.fit(ctx); err != nil {
		return err
	}
	before := make([]int64, len(l.schedulers))
	for i, s := range l.schedulers {
		var err error
		if before[i], err = l.entryOf(s.Name).become(ctx, s.Service); err != nil {
			return err
		}
	}
	for i, s := range l.schedulers {
		if err := l.entryOf(s.Name).awaitOther(ctx, before[i]); err != nil {
			return err
		}
	}
	return l.complete(ctx)
}

// fit checks that everybody is there, and runs what the configuration says but for a scheduler's policy and seed.
func (l *lineup) fit(ctx context.Context) error {
	all, failed := l.ask(ctx)
	for _, s := range l.schedulers {
		if failed == nil {
			break
		}
		if _, err := l.entryOf(s.Name).setup(ctx); err != nil { // it may have been about to start
			return err
		}
		all, failed = l.ask(ctx)
	}
	if failed != nil {
		return failed
	}
	for i := range l.entries {
		e := l.entries[i]
		if e.Role == conf.RoleScheduler {
			var err error
			e.want.Policy, e.want.Seed = all[i].Policy, all[i].Seed
			if e.want.Digest, err = l.started.Under(e.want.Policy, e.want.Seed).DigestOf(&e.Service); err != nil {
				return err
			}
		}
		failed = errors.Join(failed, e.differs(&all[i]))
	}
	if failed != nil {
		return failed
	}
	return l.complete(ctx)
}

// complete waits until all are registered and every scheduler takes every worker for a candidate.
func (l *lineup) complete(ctx context.Context) error {
	if err := l.awaitRegistered(ctx); err != nil {
		return err
	}
	return drive.AwaitWorkers(ctx, l.schedulers, l.data, len(l.named(conf.RoleWorker)))
}

// setup asks a service what it runs until it answers.
func (e *entry) setup(ctx context.Context) (now cluster.Setup, err error) {
	if poll.Until(ctx, lookEvery, func() bool { now, err = e.client.Setup(ctx); return err == nil }) {
		return now, nil
	}
	return now, fmt.Errorf("%s at %s: %w", e.Name, e.Dial(), err)
}

// become tells a scheduler what to run, as soon as it holds no tasks, and returns which process was told.
func (e *entry) become(ctx context.Context, s rpc.Scheduler) (incarnation int64, err error) {
	if poll.Until(ctx, lookEvery, func() bool {
		var now cluster.Setup
		if now, err = s.Setup(ctx); err == nil {
			incarnation, err = now.Incarnation, s.SwitchPolicy(ctx, e.want.Policy, e.want.Seed)
		}
		return err == nil || errors.Is(err, cluster.Invalid)
	}) && err == nil {
		return incarnation, nil
	}
	return 0, fmt.Errorf("%s at %s keeps its policy: %w", e.Name, e.Dial(), err)
}

// awaitOther waits until another process than the one before answers.
func (e *entry) awaitOther(ctx context.Context, before int64) error {
	var failed error
	if poll.Until(ctx, lookEvery, func() bool {
		var now cluster.Setup
		now, failed = e.client.Setup(ctx)
		return failed == nil && now.Incarnation != before
	}) {
		return nil
	}
	return fmt.Errorf("%s at %s did not start anew: %w", e.Name, e.Dial(), errors.Join(context.Cause(ctx), failed))
}

const lookEvery = 20 * time.Millisecond

// awaitRegistered waits until the data service knows the inventory's schedulers and workers, and nobody else.
func (l *lineup) awaitRegistered(ctx context.Context) error {
	var differs error
	if poll.Until(ctx, lookEvery, func() bool {
		var status cluster.ClusterStatus
		if status, differs = l.data.Status(ctx); differs != nil {
			return false
		}
		var schedulers, workers []string
		for i := range status.Schedulers {
			schedulers = append(schedulers, status.Schedulers[i].Name)
		}
		for i := range status.Nodes {
			workers = append(workers, status.Nodes[i].Node.Name)
		}
		differs = errors.Join(same("schedulers", schedulers, l.named(conf.RoleScheduler)), same("workers", workers, l.named(conf.RoleWorker)))
		return differs == nil
	}) {
		return nil
	}
	return errors.Join(differs, context.Cause(ctx))
}

func same(what string, registered, inventory []string) error {
	slices.Sort(registered)
	slices.Sort(inventory)
	if slices.Equal(registered, inventory) {
		return nil
	}
	return fmt.Errorf("registered %s are %v, and the inventory has %v: bring them up, or take them out of it", what, registered, inventory)
}

func (l *lineup) entryOf(name string) *entry {
	return &l.entries[slices.IndexFunc(l.entries, func(e entry) bool { return e.Role == conf.RoleScheduler && e.Name == name })]
}

// Restore has the schedulers of a cluster that do not run the policy and the seed that it was started with take them again,
// whoever else of the cluster is away. It tries every one of them.
func (s Setting) Restore(ctx context.Context) error {
	l, err := newLineup(s.Started, s.Started.Scheduler.Policy, s.Started.Seed, s.Network)
	if err != nil {
		return err
	}
	defer l.close()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not within %v", patience))
	defer cancel()
	var problems []error
	for _, target := range l.schedulers {
		problems = append(problems, l.entryOf(target.Name).restore(ctx, target.Service))
	}
	return errors.Join(problems...)
}

// restore has a scheduler run what it should. One that starts anew at this moment may be what it was told before, and
// is told again.
func (e *entry) restore(ctx context.Context, s rpc.Scheduler) error {
	for {
		now, err := e.setup(ctx)
		if err != nil {
			return err
		}
		if now.Policy == e.want.Policy && now.Seed == e.want.Seed {
			return nil
		}
		before, err := e.become(ctx, s)
		if err == nil {
			err = e.awaitOther(ctx, before)
		}
		if err != nil {
			return err
		}
	}
}
