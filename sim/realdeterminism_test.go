package sim_test

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/sim"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// smallCluster is a run of 300 tasks on 20 nodes of four classes, with three schedulers, at a rate at
// which queues form.
func smallCluster(t *testing.T, policy string, seed uint64) sim.Config {
	t.Helper()
	cfg := setup{profile: "paper", policy: policy, trace: "functionbench", qps: 25, n: 300, seed: seed, sets: []string{
		"class.m510.count=8", "class.xl170.count=5", "class.c6525-25g.count=4", "class.c6620.count=3",
		"scheduler.replicas=3", "scheduler.b_delta=4", "datastore.b=20"}}.config(t)
	cfg.Emulation.Sigma, cfg.Reestimate = 0.3, true
	return cfg
}

// workersOf is where every task went.
func workersOf(run realRun) map[string]string {
	workers := map[string]string{}
	for id, r := range run.Records {
		workers[id] = r.Worker
	}
	return workers
}

// TestRealClusterIsDeterministic: on the services themselves, the same seed gives the same run in every
// figure, and another seed another run.
func TestRealClusterIsDeterministic(t *testing.T) {
	for _, policy := range []string{"dodoor", "dodoor+", "pot", "prequal", "random", "yarp"} {
		t.Run(policy, func(t *testing.T) {
			cfg := smallCluster(t, policy, 1)
			run := runReal(t, cfg)
			waited := 0
			for id, r := range run.Records {
				if r.Outcome != cluster.Finished || r.Attempts != 1 {
					t.Errorf("%s: %+v", id, r)
				}
				if r.Wait > 0 {
					waited++
				}
			}
			if tasks := cfg.Workload.Len(); len(run.Records) != tasks || waited < tasks/4 {
				t.Fatalf("results of %d tasks, of which %d waited: too few to tell anything", len(run.Records), waited)
			}
			if again := runReal(t, cfg); !reflect.DeepEqual(run, again) {
				t.Error("the same seed gave another run")
			}
			cfg.Replica.Seed++
			if other := runReal(t, cfg); maps.Equal(workersOf(run), workersOf(other)) {
				t.Error("another seed gave the same placements of the same tasks")
			}
		})
	}
}

// TestRealClusterCounts: the services' own counters say what a run cost: a probe per choice, a delta per
// batch of placements, a push to every scheduler per batch of decisions.
func TestRealClusterCounts(t *testing.T) {
	cfg := smallCluster(t, "dodoor", 1)
	run := runReal(t, cfg)
	tasks, schedulers := int64(cfg.Workload.Len()), int64(cfg.Schedulers)
	for i := range cfg.Schedulers {
		counts := run.Counters.Schedulers[schedulerName(i)]
		for name, want := range map[string]int64{"in.submit": tasks / schedulers, "out.enqueue": tasks / schedulers,
			"in.complete": tasks / schedulers,
			"out.delta":   tasks / schedulers / int64(cfg.Replica.DeltaBatch), "in.push": tasks / cfg.Store.Batch, "out.probe": 0} {
			if counts[name] != want {
				t.Errorf("%s: %s is %d, want %d", schedulerName(i), name, counts[name], want)
			}
		}
	}
	if pushed := run.Counters.Data["out.push"]; pushed != schedulers*tasks/cfg.Store.Batch {
		t.Errorf("the data service counts %d pushes", pushed)
	}
}

// TestExecutionsEndInOrder: what ends at the same instant does so in the order of the tasks.
func TestExecutionsEndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := smallCluster(t, "dodoor", 1)
		m := newMoments(&cfg)
		defer m.turns.Close()
		run := m.ending(executor.Sleep{})
		var mu sync.Mutex
		var ended, want []int
		for i := range 50 {
			want = append(want, i)
			start := worker.Start{TaskID: cfg.Workload.ID(i), TimeScale: 1, Shape: cluster.Shape{Duration: 1000}}
			go func() {
				run.Run(t.Context(), start)
				mu.Lock()
				defer mu.Unlock()
				ended = append(ended, i)
			}()
		}
		<-time.After(time.Second)
		m.turns.Quiet()
		if !slices.Equal(ended, want) {
			t.Errorf("ended in the order %v", ended)
		}
	})
}
