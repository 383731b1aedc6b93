package schedulerd

import (
	"context"
	"errors"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// probing is a policy that asks both nodes and takes the one with fewer tasks: it shows that probing
// fits the seam.
type probing struct {
	asked    map[string][]scheduler.Probe
	decision scheduler.Decision
}

func (p *probing) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Decision {
	p.decision = scheduler.Decision{}
	for _, i := range v.Candidates() {
		p.decision.Probe = append(p.decision.Probe, scheduler.ProbeCall{Task: t, Node: int(i)})
	}
	return p.decision
}

// Wants no loads: it asks the nodes.
func (p *probing) Wants() scheduler.Wants { return scheduler.Wants{} }

func (p *probing) Probed(_ time.Duration, a scheduler.Probe, v *scheduler.View) scheduler.Decision {
	p.asked[a.Task.ID] = append(p.asked[a.Task.ID], a)
	answers := p.asked[a.Task.ID]
	if len(answers) < len(v.Candidates()) {
		return scheduler.Decision{}
	}
	delete(p.asked, a.Task.ID)
	best := answers[0]
	for _, b := range answers {
		if best.Failed || !b.Failed && b.Answer.Tasks < best.Answer.Tasks {
			best = b
		}
	}
	return scheduler.Decision{Place: []scheduler.Placement{{Task: a.Task, Node: best.Node}}}
}

func TestProbingPolicyFitsTheSeam(t *testing.T) {
	_, client, workers, _ := cluster1(t, &probing{asked: map[string][]scheduler.Probe{}})
	for i, id := range ids(10) {
		submitAll(t, client, id)
		awaitHeld(t, workers, i+1)
	}
	for _, w := range workers {
		if len(w.held) != 5 {
			t.Errorf("worker %s holds %d tasks, want 5: every decision saw the true counts", w.node.Name, len(w.held))
		}
		w.finishAll(t, client)
	}
	collect(t, client, 10)
}

func TestPortInUse(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.Listen = data.Addr()
	if _, err := New(cfg); err == nil {
		t.Error("a second service on the same port was accepted")
	}
}

// Two processes with one name: the older one ends and says why.
func TestNewerNamesakeEndsTheOlder(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	older := newReplica(t, data.Addr(), dodoor(t))
	ended := make(chan error, 1)
	go func() { ended <- older.Run(t.Context()) }()
	untilRegistered(t, data)
	start(t, newReplica(t, data.Addr(), dodoor(t)))
	select {
	case err := <-ended:
		if !errors.Is(err, cluster.Stale) {
			t.Errorf("ended with %v, want stale", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the older process runs on")
	}
}

func untilRegistered(t *testing.T, data interface {
	Status(context.Context) (cluster.ClusterStatus, error)
}) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if status, _ := data.Status(t.Context()); len(status.Schedulers) == 1 {
			return
		}
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			t.Fatal("never registered")
		}
	}
}

// A result that its worker dropped is found missing by an audit, and the task runs elsewhere.
func TestAuditFindsForgottenTasks(t *testing.T) {
	d, client, workers, _ := cluster1(t, dodoor(t))
	submitAll(t, client, ids(10)...)
	awaitHeld(t, workers, 10)
	workers[0].mu.Lock()
	forgotten := len(workers[0].held)
	clear(workers[0].held)
	workers[0].mu.Unlock()
	if forgotten == 0 {
		t.Fatal("the seed put no task on the first worker")
	}
	deadline := time.After(20 * time.Second)
	for heldBy(workers) != 10 {
		d.auditNodes(t.Context(), 0)
		select {
		case <-time.After(5 * time.Millisecond):
		case <-deadline:
			t.Fatalf("workers hold %d of 10 tasks after audits", heldBy(workers))
		}
	}
	for _, w := range workers {
		w.finishAll(t, client)
	}
	if got := len(collect(t, client, 10)); got != 10 {
		t.Errorf("%d records", got)
	}
}

// An address that now belongs to another worker is no longer that of the one that left.
func TestAnotherWorkerAtTheAddress(t *testing.T) {
	_, client, workers, _ := cluster1(t, dodoor(t))
	workers[0].mu.Lock()
	workers[0].node.Name = "w9" // what answers calls itself so from now on
	workers[0].mu.Unlock()
	submitAll(t, client, ids(20)...)
	workers[1].until(t, "holds all 20 tasks", func() bool { return len(workers[1].held) == 20 })
	workers[1].finishAll(t, client)
	collect(t, client, 20)
}

// A batch that is too large for one message is halved until it fits; no task pays for its neighbours.
func TestTooLargeBatchIsHalved(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := replicaConfig(data.Addr(), dodoor(t))
	cfg.MaxBatch, cfg.RPC.MaxMessageBytes = 10_000, 4096
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	start(t, d)
	w := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	submitAll(t, d, ids(2000)...)
	w.until(t, "holds all 2000 tasks", func() bool { return len(w.held) == 2000 })
	w.finishAll(t, d)
	for _, r := range collect(t, d, 2000) {
		if r.Outcome != cluster.Finished || r.Attempts != 1 {
			t.Fatalf("record %+v", r)
		}
	}
}
