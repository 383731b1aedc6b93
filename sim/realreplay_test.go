package sim_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// await lets time pass.
func (c *realCluster) await(until time.Time) { <-time.After(time.Until(until)) }

// replay submits every task to the next scheduler in turn when it is due, and collects the results.
func (c *realCluster) replay() realRun {
	c.Helper()
	w := c.cfg.Workload
	before, start := c.counters(), time.Now()
	run := realRun{Records: map[string]cluster.TaskRecord{}}
	var mu sync.Mutex
	var collectors sync.WaitGroup
	for i, client := range c.clients {
		owed := (w.Len() - i + len(c.clients) - 1) / len(c.clients)
		collectors.Go(func() {
			c.collect(client, owed, func(r cluster.TaskRecord) {
				mu.Lock()
				defer mu.Unlock()
				r.Received -= time.Duration(start.UnixNano())
				run.Records[r.ID] = r
			})
		})
	}
	for i := range w.Len() {
		if i > 0 && w.Due(i) == w.Due(i-1) {
			c.Fatalf("tasks %d and %d are due at the same instant: which comes first would be chance", i-1, i)
		}
		c.await(start.Add(w.Due(i)))
		request := cluster.SubmitRequest{Client: generatorName, Tasks: []cluster.TaskSpec{w.Task(i)}}
		if refused, err := c.clients[i%len(c.clients)].Submit(context.Background(), request); err != nil || len(refused) > 0 {
			c.Fatalf("task %s: refused %v, error %v", w.ID(i), refused, err)
		}
	}
	collectors.Wait()
	c.moments.turns.Quiet()
	run.Counters = since(before, c.counters())
	return run
}

// collect takes the results that a scheduler owes, and acknowledges the last.
func (c *realCluster) collect(client *rpc.SchedulerClient, owed int, take func(cluster.TaskRecord)) {
	request := cluster.CollectRequest{Client: generatorName, Max: 1024, Wait: time.Minute}
	for owed > 0 {
		reply, err := client.Collect(context.Background(), request)
		if err != nil {
			if !errors.Is(err, rpc.ErrClosed) { // else the test has failed
				c.Errorf("results: %v", err)
			}
			return
		}
		for _, r := range reply.Records {
			take(r)
		}
		owed -= len(reply.Records)
		request.After, request.Incarnation = reply.Cursor, reply.Incarnation
	}
	request.Wait = 0
	if _, err := client.Collect(context.Background(), request); err != nil {
		c.Errorf("the last results were not acknowledged: %v", err)
	}
}

// ask is a question that must be answered.
func (c *realCluster) ask(counters func(context.Context) (map[string]int64, error)) map[string]int64 {
	c.Helper()
	counts, err := counters(context.Background())
	if err != nil {
		c.Fatal(err)
	}
	return counts
}

func (c *realCluster) counters() generator.Counters {
	c.Helper()
	all := generator.Counters{Schedulers: map[string]map[string]int64{}, Data: c.ask(c.data.Counters)}
	for i, client := range c.clients {
		all.Schedulers[schedulerName(i)] = c.ask(client.Counters)
	}
	return all
}

// since returns the requests between two moments: "in.submit", "out.probe" ... as package rpc counts them.
func since(before, after generator.Counters) generator.Counters {
	requests := func(before, after map[string]int64) map[string]int64 {
		counts := map[string]int64{}
		for name, n := range after {
			if (strings.HasPrefix(name, "in.") || strings.HasPrefix(name, "out.")) && n != before[name] {
				counts[name] = n - before[name]
			}
		}
		return counts
	}
	all := generator.Counters{Schedulers: map[string]map[string]int64{}, Data: requests(before.Data, after.Data)}
	for name := range after.Schedulers {
		all.Schedulers[name] = requests(before.Schedulers[name], after.Schedulers[name])
	}
	return all
}
