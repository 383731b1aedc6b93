package schedulerd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// A scheduler takes another policy when it is idle and may: then it takes nothing more, leaves, and says why it ended.
func TestSwitchPolicy(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.Setup = cluster.Setup{Name: "scheduler-a", Version: "one", Digest: "abc", Policy: "dodoor", Seed: 1}
	cfg.MayRun = func(policy string) error {
		if policy != "pot" {
			return errors.New("no such policy")
		}
		return nil
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	client := rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
	defer client.Close()
	setup, err := client.Setup(t.Context())
	if setup.Incarnation == 0 || setup.Batch != cfg.Replica.DeltaBatch ||
		setup.Name != "scheduler-a" || setup.Policy != "dodoor" || err != nil {
		t.Errorf("setup %+v, %v", setup, err)
	}
	refused := func(policy string, code cluster.ErrorCode, says string) {
		t.Helper()
		if err := client.SwitchPolicy(t.Context(), policy, 7); !errors.Is(err, code) || !strings.Contains(err.Error(), says) {
			t.Errorf("switch to %s: %v, want %v: %s", policy, err, code, says)
		}
	}
	refused("magic", cluster.Invalid, "no such policy")
	submitAll(t, client, "a")
	awaitHeld(t, []*fakeWorker{worker}, 1)
	refused("pot", cluster.Overloaded, "holds 1 tasks")
	worker.finishAll(t, client)
	last := collect(t, client, 1)
	if _, err := client.Collect(t.Context(), cluster.CollectRequest{Client: "c", After: int64(len(last)), Max: 1}); err != nil {
		t.Fatal(err)
	}
	if err := client.SwitchPolicy(t.Context(), "pot", 7); err != nil {
		t.Fatal(err)
	}
	if other, ok := errors.AsType[Switched](<-ended); !ok || other != (Switched{"pot", 7}) {
		t.Errorf("Run ended with %v", other)
	}
}

// Who has been told to start anew says no more what it runs, and is not told again.
func TestOneSwitchAtATime(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.MayRun = func(string) error { return nil }
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.SwitchPolicy(t.Context(), "pot", 7); err != nil {
		t.Fatal(err)
	}
	if err := d.SwitchPolicy(t.Context(), "random", 8); !errors.Is(err, cluster.Draining) {
		t.Errorf("told twice: %v", err)
	}
	if _, err := d.Setup(t.Context()); !errors.Is(err, cluster.Draining) {
		t.Errorf("asked what it runs: %v", err)
	}
	if other, ok := errors.AsType[Switched](d.Run(t.Context())); !ok || other != (Switched{"pot", 7}) {
		t.Errorf("Run ended with %v", other)
	}
}

// A scheduler that nobody can start anew keeps its policy.
func TestKeepsItsPolicy(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	d := newReplica(t, data.Addr(), dodoor(t))
	start(t, data)
	start(t, d)
	if err := d.SwitchPolicy(context.Background(), "pot", 1); !errors.Is(err, cluster.Invalid) || !strings.Contains(err.Error(), "-as") {
		t.Errorf("got %v", err)
	}
}
