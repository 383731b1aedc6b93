package localcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
	"dodoor/internal/rpc"
	"dodoor/internal/rpc/rpctest"
)

// certified is a configuration whose services and people have bundles.
func certified(t *testing.T, sets ...string) *conf.Config {
	t.Helper()
	sets = append([]string{"worker.executor=sleep", "worker.drain_timeout=1s", "scheduler.drain_timeout=1s", "class.laptop.count=3",
		"scheduler.replicas=2"}, sets...)
	c, err := conf.Load("single", sets)
	if err != nil {
		t.Fatal(err)
	}
	c.Security.Folder = t.TempDir()
	ca, err := authority.Create(filepath.Join(t.TempDir(), "ca"), c.Security.Domain, 1000*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ids := []identity.Identity{{Role: identity.DataService, Name: "datastore"}, {Role: identity.Operator, Name: "operator"},
		{Role: identity.User, Name: "alice"}}
	for i := range 2 {
		ids = append(ids, identity.Identity{Role: identity.Scheduler, Name: cluster.SchedulerName(i)})
	}
	for i := range 3 {
		ids = append(ids, identity.Identity{Role: identity.Worker, Name: cluster.WorkerName("laptop", i)})
	}
	for _, id := range ids {
		if err := ca.Issue(id, c.Security.Bundle(id.Name), 100*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// What roles may do is enough: a cluster whose services check each other does under every policy what one in plaintext does, and nobody
// is refused anything. A user gets what users get.
func TestWithIdentities(t *testing.T) {
	for _, policy := range baselines.Names() {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, network := certified(t, "scheduler.policy="+policy), rpctest.NewNetwork()
				var log bytes.Buffer
				l, err := Start(c, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), network)
				if err != nil {
					t.Fatal(err)
				}
				defer network.Wait()
				defer l.Stop()
				ctx := t.Context()
				if err := l.AwaitWorkers(ctx); err != nil {
					t.Fatal(err)
				}
				throughOneLife(t, l)
				c.Security.User = "alice"
				asUser(t, c, l, network)
				if err := l.Settle(ctx); err != nil {
					t.Error(err)
				}
				if text := log.String(); strings.Contains(text, "refused") || strings.Contains(text, "not allowed") {
					t.Errorf("somebody was refused something: %s", text)
				}
			})
		})
	}
}

// throughOneLife runs tasks, cancels one, and asks everybody everything.
func throughOneLife(t *testing.T, l *Cluster) {
	ctx := t.Context()
	const tasks = 20
	for i, s := range l.Schedulers {
		request := cluster.SubmitRequest{Client: "me"}
		for k := range tasks {
			second := time.Second.Milliseconds()
			request.Tasks = append(request.Tasks, cluster.TaskSpec{ID: fmt.Sprintf("%d-%d", i, k), Type: "sleep", Mode: "short", TimeScale: 1,
				Duration: &second, Demand: &cluster.Resources{100, 64}})
		}
		hour := time.Hour.Milliseconds()
		request.Tasks[0].Duration = &hour
		if refused, err := s.Service.Submit(ctx, request); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		<-time.After(10 * time.Second)
		if found, err := s.Service.Cancel(ctx, request.Tasks[0].ID); !found || err != nil {
			t.Errorf("cancel: %v, %v", found, err)
		}
		ended := map[cluster.Outcome]int{}
		for cursor := int64(0); ended[cluster.Finished]+ended[cluster.Cancelled] < tasks; {
			reply, err := s.Service.Collect(ctx, cluster.CollectRequest{Client: "me", After: cursor, Max: 100, Wait: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			for i := range reply.Records {
				ended[reply.Records[i].Outcome]++
			}
			cursor = reply.Cursor
		}
		if ended[cluster.Cancelled] != 1 || ended[cluster.Finished] != tasks-1 {
			t.Errorf("%v", ended)
		}
	}
	nodes, err := l.Nodes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		w := l.Worker(nodes[i].Node.Address)
		defer w.Close()
		_, tasksErr := w.Tasks(ctx, cluster.TaskQuery{Max: 10})
		_, stateErr := w.State(ctx)
		if err := errors.Join(tasksErr, stateErr, w.Drain(ctx, true), w.Drain(ctx, false)); err != nil {
			t.Error(err)
		}
	}
	<-time.After(2 * time.Minute) // heartbeats, checks of registrations, questions about tasks
}

// asUser asks as somebody who is no operator.
func asUser(t *testing.T, c *conf.Config, l *Cluster, network *rpctest.Network) {
	cfg, err := GeneratorRPC(c, network)
	if err != nil {
		t.Fatal(err)
	}
	s, w := rpc.NewSchedulerClient("scheduler-1:1", l.Dimensions, cfg.To("scheduler-1")), rpc.NewWorkerClient("laptop-1:1", l.Dimensions, cfg)
	defer s.Close()
	defer w.Close()
	second := time.Second.Milliseconds()
	task := cluster.TaskSpec{ID: "a", Type: "sleep", Mode: "short", TimeScale: 1, Duration: &second, Demand: &cluster.Resources{100, 64}}
	request := cluster.SubmitRequest{Client: "alice", Tasks: []cluster.TaskSpec{task}}
	if refused, err := s.Submit(t.Context(), request); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	reply, err := s.Collect(t.Context(), cluster.CollectRequest{Client: "alice", Max: 1, Wait: time.Minute})
	if err != nil || len(reply.Records) != 1 || reply.Records[0].Outcome != cluster.Finished {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A worker with a scheduler's certificate, a wrong name or none at all does not become part of a cluster.
func TestImpostors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, network := certified(t), rpctest.NewNetwork()
		l, err := Start(c, slog.New(slog.DiscardHandler), network)
		if err != nil {
			t.Fatal(err)
		}
		defer network.Wait()
		defer l.Stop()
		if err := l.AwaitWorkers(t.Context()); err != nil {
			t.Fatal(err)
		}
		for user, want := range map[string]error{"alice": cluster.Denied, "scheduler-1": cluster.Denied, "laptop-1": cluster.Denied,
			"": rpc.ErrUnavailable} {
			own := *c
			if own.Security.User = user; user == "" {
				own.Security.Folder = ""
			}
			cfg, err := GeneratorRPC(&own, network)
			if err != nil {
				t.Fatal(err)
			}
			d := rpc.NewDataClient("datastore:1", l.Dimensions, cfg)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err = d.RegisterNode(ctx, cluster.Node{Name: "laptop-9", Address: "evil:1", Class: "laptop", Slots: 1, Incarnation: 1,
				Capacity: cluster.Resources{1000, 1000}})
			cancel()
			if !errors.Is(err, want) && !(user == "" && errors.Is(err, rpc.ErrRemote)) {
				t.Errorf("%q registers a worker: %v", user, err)
			}
			d.Close()
		}
		if nodes, err := l.Nodes(t.Context()); err != nil || len(nodes) != 3 {
			t.Errorf("%d workers, %v", len(nodes), err)
		}
	})
}
