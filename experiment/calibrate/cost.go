package calibrate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/experiment"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/localcluster"
)

const (
	pings      = 500
	pingPause  = time.Millisecond
	alarms     = 50
	alarmAfter = 20 * time.Millisecond
)

// measureCosts starts the cluster of the configuration and sends one request after the other.
func measureCosts(ctx context.Context, c *conf.Config, base experiment.Setting) (Costs, error) {
	l, err := localcluster.Start(c, experiment.Quieter(base.Log, c), base.Network)
	if err != nil {
		return Costs{}, err
	}
	defer l.Stop()
	if err := l.AwaitWorkers(ctx); err != nil {
		return Costs{}, err
	}
	cfg, err := assemble.RPC(c, base.Network, "calibration")
	if err != nil {
		return Costs{}, err
	}
	cfg.PoolSize = 1
	node := rpc.NewWorkerClient(l.Workers()[0], l.Dimensions, cfg)
	defer node.Close()
	var k Costs
	for _, service := range []struct {
		name string
		cost *time.Duration
		call func(ctx context.Context) error
	}{
		{"scheduler", &k.Scheduler, func(ctx context.Context) error { _, err := l.Schedulers[0].Service.Counters(ctx); return err }},
		{"data service", &k.Data, func(ctx context.Context) error { _, err := l.Data.Counters(ctx); return err }},
		{"worker", &k.Worker, func(ctx context.Context) error {
			_, err := node.Probe(ctx, "calibration", cluster.Resources{})
			return err
		}},
	} {
		if *service.cost, err = medianRoundTrip(ctx, service.call); err != nil {
			return Costs{}, fmt.Errorf("%s: %w", service.name, err)
		}
	}
	k.Late, err = medianLateness(ctx)
	return k, err
}

func medianRoundTrip(ctx context.Context, call func(ctx context.Context) error) (time.Duration, error) {
	pause := time.NewTicker(pingPause)
	defer pause.Stop()
	times := make([]time.Duration, pings)
	for i := range times {
		<-pause.C
		begin := time.Now()
		if err := call(ctx); err != nil {
			return 0, err
		}
		times[i] = time.Since(begin)
	}
	return median(times), nil
}

func medianLateness(ctx context.Context) (time.Duration, error) {
	var times []time.Duration
	for range alarms {
		begin := time.Now()
		timer := time.NewTimer(alarmAfter)
		select {
		case <-timer.C:
			times = append(times, time.Since(begin)-alarmAfter)
		case <-ctx.Done():
			timer.Stop()
			return 0, ctx.Err()
		}
	}
	return median(times), nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
