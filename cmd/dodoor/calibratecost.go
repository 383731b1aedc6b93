package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// costs is what one request costs a service on this machine: the median round trip over loopback on one
// connection. It includes the kernel's part and the caller's, which the simulator does not know apart; the
// delay between services is then nothing. Requests are a pause apart, as in a replay: one that follows the
// last one at once finds everybody awake and takes a fifth of the time.
type costs struct {
	Scheduler time.Duration `json:"scheduler_ns"`
	Data      time.Duration `json:"datastore_ns"`
	Worker    time.Duration `json:"worker_ns"`

	// Late is by how much the timer rings late that ends an emulated task, at the median. The simulator's
	// tasks end on time, so it is told to nobody; it explains what is left of a difference.
	Late time.Duration `json:"timer_late_ns"`
}

const (
	pings      = 500
	pingPause  = time.Millisecond
	alarms     = 50
	alarmAfter = 20 * time.Millisecond
)

// measureCosts starts the cluster of the configuration and sends one request after the other.
func measureCosts(ctx context.Context, c *conf.Config, log *slog.Logger) (costs, error) {
	l, err := startCluster(c, log)
	if err != nil {
		return costs{}, err
	}
	defer l.stop()
	waiting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := l.ready(waiting); err != nil {
		return costs{}, err
	}
	cfg := rpcConfig(c, 0)
	cfg.PoolSize = 1
	node := rpc.NewWorkerClient(l.workers[0].Addr(), l.dims, cfg)
	defer node.Close()
	var k costs
	for _, service := range []struct {
		name string
		cost *time.Duration
		call func(ctx context.Context) error
	}{
		{"scheduler", &k.Scheduler, func(ctx context.Context) error { _, err := l.targets[0].Service.Counters(ctx); return err }},
		{"data service", &k.Data, func(ctx context.Context) error { _, err := l.dataClient.Counters(ctx); return err }},
		{"worker", &k.Worker, func(ctx context.Context) error {
			_, err := node.Probe(ctx, "calibration", cluster.Resources{})
			return err
		}},
	} {
		if *service.cost, err = medianRoundTrip(ctx, service.call); err != nil {
			return costs{}, fmt.Errorf("%s: %w", service.name, err)
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
