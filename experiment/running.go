package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/localcluster"
)

// runOnCluster replays the workload on schedulers that run: those that the configuration chooses, or else all that are
// registered with the data service, from the beginning or later.
func (s Setting) runOnCluster(ctx context.Context) (Result, error) {
	// Services remember earlier runs' task ids for a while, so every replay has its own.
	r, err := s.newReplay(fmt.Sprintf("r%x-", time.Now().UnixNano()))
	if err != nil {
		return Result{}, err
	}
	if s.Started != nil {
		return r.underPolicy(ctx)
	}
	dims, err := s.Conf.Dimensions()
	if err != nil {
		return Result{}, refuse(err)
	}
	cfg, err := localcluster.GeneratorRPC(s.Conf, s.Network)
	if err != nil {
		return Result{}, refuse(err)
	}
	data, status, err := assemble.Connect(ctx, s.Conf, cfg)
	if err != nil {
		return Result{}, err
	}
	defer data.Close()
	var clients []*rpc.SchedulerClient
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	connect := func(ref cluster.SchedulerRef) drive.Target {
		client := rpc.NewSchedulerClient(ref.Address, dims, cfg.To(ref.Name))
		clients = append(clients, client)
		return drive.Target{Name: ref.Name, Address: ref.Address, Service: client, Close: client.Close}
	}
	begin := chosen(s.Conf, status.Schedulers)
	if begin == nil {
		begin, r.connect = status.Schedulers, connect
		slices.SortFunc(begin, func(a, b cluster.SchedulerRef) int { return strings.Compare(a.Name, b.Name) }) // in whatever order they came
	}
	if len(begin) == 0 {
		return Result{}, errors.New("no scheduler is registered with the data service: start one, or name some with -schedulers")
	}
	r.data = data
	for _, ref := range begin {
		r.schedulers = append(r.schedulers, connect(ref))
	}
	if err := prepareDir(s.Dir); err != nil {
		return Result{}, err
	}
	defer tidy(s.Dir)
	return r.run(ctx, &status)
}

// underPolicy has the schedulers of the cluster start anew under the policy and the seed of the run, and verifies on every
// service what it runs, before the first task and after the last.
func (r *replay) underPolicy(ctx context.Context) (Result, error) {
	l, err := newLineup(r.Started, r.Conf.Scheduler.Policy, r.Conf.Seed, r.Network)
	if err != nil {
		return Result{}, refuse(err)
	}
	defer l.close()
	if err := l.restart(ctx); err != nil {
		return Result{}, err
	}
	setups, err := l.verify(ctx, nil)
	if err != nil {
		return Result{}, err
	}
	if err := settled(ctx, l); err != nil {
		return Result{}, fmt.Errorf("the cluster is not idle: %w", err)
	}
	status, err := l.data.Status(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := prepareDir(r.Dir); err != nil {
		return Result{}, err
	}
	defer tidy(r.Dir)
	r.data, r.schedulers, r.services = l.data, l.schedulers, verified(setups)
	r.verify = func(ctx context.Context) error {
		_, err := l.verify(ctx, setups)
		return err
	}
	r.settle = func(ctx context.Context) error { return settled(ctx, l) }
	return r.run(ctx, &status)
}

// settled checks that every account of an idle cluster is zero.
func settled(ctx context.Context, l *lineup) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	return drive.Settle(ctx, l.schedulers, l.data)
}

// chosen are the schedulers that a configuration names, under the names that are known of them. nil: it leaves the choice to
// the data service. So does an inventory: it says where schedulers are to run, and they come and go.
func chosen(c *conf.Config, known []cluster.SchedulerRef) (all []cluster.SchedulerRef) {
	var ofHosts []string
	for _, service := range c.Services() {
		if service.Role == conf.RoleScheduler {
			ofHosts = append(ofHosts, service.Dial())
		}
	}
	if slices.Equal(c.Generator.Schedulers, ofHosts) {
		return nil
	}
	for i, address := range c.Generator.Schedulers {
		ref := cluster.SchedulerRef{Name: cluster.SchedulerName(i) + "@" + address, Address: address}
		if at := slices.IndexFunc(known, func(s cluster.SchedulerRef) bool { return s.Address == address }); at >= 0 {
			ref = known[at]
		}
		all = append(all, ref)
	}
	return all
}
