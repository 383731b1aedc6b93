package experiment

import (
	"context"
	"errors"
	"fmt"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/version"
	"dodoor/localcluster"
)

// lineup is the services of an inventory that run, as a comparison wants them: its schedulers under a policy and a
// seed, everything else as its configuration says.
type lineup struct {
	started    *conf.Config
	entries    []entry
	schedulers []drive.Target
	data       *rpc.DataClient
}

// entry is one service, and what it should run.
type entry struct {
	conf.Service
	want   cluster.Setup
	client setupService
}

// setupService is what every service is asked.
type setupService interface {
	Setup(context.Context) (cluster.Setup, error)
	Close() error
}

// newLineup lists the services of the configuration that a cluster was started with, whose schedulers should run a policy
// with a seed.
func newLineup(started *conf.Config, policy string, seed uint64, network assemble.Network) (*lineup, error) {
	if err := hasInventory(started); err != nil {
		return nil, err
	}
	dims, err := started.Dimensions()
	if err != nil {
		return nil, err
	}
	dial, err := localcluster.GeneratorRPC(started, network)
	if err != nil {
		return nil, err
	}
	l := &lineup{started: started}
	for _, s := range started.Services() {
		e := entry{Service: s, want: cluster.Setup{Name: s.Name, Version: version.Build()}}
		from := started
		switch s.Role {
		case conf.RoleDatastore:
			l.data = rpc.NewDataClient(s.Dial(), dims, dial)
			e.client, e.want.Batch = l.data, started.Datastore.B
		case conf.RoleScheduler:
			from = started.Under(policy, seed)
			client := rpc.NewSchedulerClient(s.Dial(), dims, dial.To(s.Name))
			l.schedulers = append(l.schedulers, drive.Target{Name: s.Name, Service: client})
			e.client, e.want.Batch, e.want.Policy, e.want.Seed = client, started.Scheduler.BDelta, policy, seed
		case conf.RoleWorker:
			e.client = rpc.NewWorkerClient(s.Dial(), dims, dial.To(s.Name))
		}
		if e.want.Digest, err = from.DigestOf(&s); err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.entries = append(l.entries, e)
	}
	return l, nil
}

func hasInventory(c *conf.Config) error {
	if len(c.Hosts) == 0 {
		return errors.New("the configuration has no [[host]] table: what a cluster that runs should be follows from its inventory")
	}
	return nil
}

func (l *lineup) close() error {
	var all []error
	for i := range l.entries {
		all = append(all, l.entries[i].client.Close())
	}
	return errors.Join(all...)
}

func (l *lineup) named(role string) (names []string) {
	for i := range l.entries {
		if l.entries[i].Role == role {
			names = append(names, l.entries[i].Name)
		}
	}
	return names
}

// ask asks every service what it runs.
func (l *lineup) ask(ctx context.Context) ([]cluster.Setup, error) {
	all := make([]cluster.Setup, len(l.entries))
	var failed error
	for i := range l.entries {
		var err error
		if all[i], err = l.entries[i].client.Setup(ctx); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s at %s: %w", l.entries[i].Name, l.entries[i].Dial(), err))
		}
	}
	return all, failed
}

// verify checks on every service what it runs, and that the processes are those of an earlier answer, if there is one.
func (l *lineup) verify(ctx context.Context, earlier []cluster.Setup) ([]cluster.Setup, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	now, err := l.ask(ctx)
	if err != nil {
		return nil, err
	}
	for i := range l.entries {
		err = errors.Join(err, l.entries[i].differs(&now[i]))
		if earlier != nil && earlier[i].Incarnation != now[i].Incarnation {
			err = errors.Join(err, fmt.Errorf("%s started anew while tasks were replayed", l.entries[i].Name))
		}
	}
	return now, err
}

// differs says in what a service is not what it should be.
func (e *entry) differs(is *cluster.Setup) error {
	want := e.want
	want.Incarnation = is.Incarnation
	switch {
	case *is == want:
		return nil
	case is.Version != want.Version:
		return fmt.Errorf("%s runs version %q of dodoor, this is %q: scripts/cluster upgrade", e.Name, is.Version, want.Version)
	case is.Policy != want.Policy || is.Seed != want.Seed || is.Batch != want.Batch:
		return fmt.Errorf("%s runs policy %q with seed %d and batches of %d, and should run %q with %d and %d", e.Name,
			is.Policy, is.Seed, is.Batch, want.Policy, want.Seed, want.Batch)
	}
	return fmt.Errorf("%s runs as %q with configuration %q, and should run as %q with %q: scripts/cluster upgrade, or without the flags "+
		"that change what services do", e.Name, is.Name, is.Digest, want.Name, want.Digest)
}

// verified is what a run's description keeps of its services.
func verified(all []cluster.Setup) []generator.ServiceInfo {
	infos := make([]generator.ServiceInfo, len(all))
	for i, s := range all {
		infos[i] = generator.ServiceInfo{Name: s.Name, Version: s.Version, Digest: s.Digest, Policy: s.Policy, Seed: s.Seed, Batch: s.Batch}
	}
	return infos
}
