package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// A name is bound to its certificate: what somebody says in his own name is handled, and what he says in another's is refused.
func TestNobodySpeaksAsAnother(t *testing.T) {
	r := newRealm(t)
	handled := 0
	told := func(context.Context, string, int64) error { handled++; return nil }
	worker := &fakeWorker{
		attach: func(context.Context, cluster.SchedulerRef) (cluster.AttachReply, error) {
			handled++
			return cluster.AttachReply{Incarnation: 1, Report: cluster.Report{Node: "n", Incarnation: 1}}, nil
		},
		enqueue: func(context.Context, cluster.Enqueue) (cluster.EnqueueReply, error) {
			handled++
			return cluster.EnqueueReply{}, nil
		},
		claim:  func(context.Context, cluster.ClaimRequest) ([]cluster.Holding, error) { handled++; return nil, nil },
		cancel: func(context.Context, string, string) (bool, error) { handled++; return true, nil },
	}
	data := &fakeData{
		registerNode: func(context.Context, cluster.Node) (int64, error) { handled++; return 1, nil }, unregisterNode: told,
		registerScheduler: func(context.Context, cluster.SchedulerRef) (cluster.Snapshot, error) {
			handled++
			return cluster.Snapshot{Incarnation: 1, ReceiverIncarnation: 1, Roster: &cluster.Roster{}}, nil
		},
		unregisterScheduler: told, checkScheduler: told,
		flush:  func(context.Context, cluster.Delta) (int64, error) { handled++; return 1, nil },
		report: func(context.Context, cluster.Report) error { handled++; return nil },
	}
	scheduler := &fakeScheduler{complete: func(context.Context, cluster.CompletionNotice) error { handled++; return nil }}
	_, _, toWorker := inMemory(t, WorkerService(worker, dims), secured(r.bundle(w1), nil))
	_, _, toData := inMemory(t, DataServiceService(data, dims), secured(r.bundle(ds), nil))
	_, _, toScheduler := inMemory(t, SchedulerService(scheduler, dims), secured(r.bundle(s1), nil))
	as := func(id identity.Identity) (*WorkerClient, *DataClient, *SchedulerClient) {
		b := r.bundle(id)
		toWorker.Bundle, toData.Bundle, toScheduler.Bundle = b, b, b
		d := NewDataClient("", dims, toData)
		t.Cleanup(func() { d.Close() })
		return workerClient(t, "", toWorker), d, schedulerClient(t, "", toScheduler)
	}
	ref := func(name string) cluster.SchedulerRef {
		return cluster.SchedulerRef{Name: name, Address: "a:1", Incarnation: 1}
	}
	atWorker, atData, _ := as(s1)
	_, fromData, noticed := as(w1)
	calls := map[string]func(name string) error{
		"attach": func(name string) error { _, err := atWorker.Attach(background, ref(name)); return err },
		"enqueue": func(name string) error {
			_, err := atWorker.Enqueue(background, cluster.Enqueue{Scheduler: ref(name), NodeIncarnation: 1})
			return err
		},
		"claim": func(name string) error {
			_, err := atWorker.Claim(background, cluster.ClaimRequest{Scheduler: ref(name), NodeIncarnation: 1})
			return err
		},
		"cancel":              func(name string) error { _, err := atWorker.Cancel(background, "t", name); return err },
		"registerScheduler":   func(name string) error { _, err := atData.RegisterScheduler(background, ref(name)); return err },
		"unregisterScheduler": func(name string) error { return atData.UnregisterScheduler(background, name, 1) },
		"checkScheduler":      func(name string) error { return atData.CheckScheduler(background, name, 1) },
		"flush": func(name string) error {
			_, err := atData.Flush(background, cluster.Delta{Scheduler: name, Incarnation: 1})
			return err
		},
		"registerNode": func(name string) error {
			n := cluster.Node{Name: name, Address: "a:1", Class: "c", Slots: 1, Incarnation: 1, Capacity: validDemand}
			_, err := fromData.RegisterNode(background, n)
			return err
		},
		"unregisterNode": func(name string) error { return fromData.UnregisterNode(background, name, 1) },
		"report": func(name string) error {
			return fromData.Report(background, cluster.Report{Node: name, Incarnation: 1})
		},
		"complete": func(name string) error {
			return noticed.Complete(background, cluster.CompletionNotice{Node: name, NodeIncarnation: 1, SchedulerIncarnation: 1})
		},
	}
	for _, method := range spoken { // all but a probe and a push, which name nobody
		if calls[method] == nil && method != "probe" && method != "push" {
			t.Errorf("%s is not tried", method)
		}
	}
	for method, call := range calls {
		own, other := s1.Name, "scheduler-2"
		if may := access[workerService][method] | access[dataService][method] | access[schedulerService][method]; !may.has(identity.Scheduler) {
			own, other = w1.Name, "worker-2"
		}
		handled = 0
		if err := call(own); err != nil || handled != 1 {
			t.Errorf("%s by %s: %v, handled %d times", method, own, err, handled)
		}
		err := call(other)
		if !errors.Is(err, cluster.Denied) || handled != 1 || !strings.Contains(err.Error(), own+` may not speak as "`+other+`"`) {
			t.Errorf("%s by %s as %s: %v, handled %d times", method, own, other, err, handled-1)
		}
	}
}

// People take everybody's claim on a task back, and no scheduler's; a scheduler its own alone.
func TestWhoseClaimIsTakenBack(t *testing.T) {
	r := newRealm(t)
	var named []string
	h := &fakeWorker{cancel: func(_ context.Context, _, scheduler string) (bool, error) {
		named = append(named, scheduler)
		return true, nil
	}}
	_, _, cfg := inMemory(t, WorkerService(h, dims), secured(r.bundle(w1), nil))
	namesake := identity.Identity{Role: identity.User, Name: s1.Name}
	for _, c := range []struct {
		caller    identity.Identity
		scheduler string
		may       bool
	}{{alice, "", true}, {operator, "", true}, {s1, s1.Name, true}, {alice, s1.Name, false}, {namesake, s1.Name, false}, {s1, "", false}} {
		named = nil
		cfg.Bundle = r.bundle(c.caller)
		_, err := workerClient(t, "", cfg).Cancel(background, "t", c.scheduler)
		if (err == nil) != c.may || errors.Is(err, cluster.Denied) == c.may || (len(named) == 1 && named[0] == c.scheduler) != c.may {
			t.Errorf("%s as %q: %v, handled %q", c.caller, c.scheduler, err, named)
		}
	}
}

// A message that does not say who sends it is not valid, which is not for access to say.
func TestNamelessMessages(t *testing.T) {
	ctx := WithCaller(background, s1)
	for _, message := range nameless() {
		if err := honest(ctx, message); err != nil {
			t.Errorf("%T: %v", message, err)
		}
	}
}

func nameless() []any {
	return []any{(*dodoor.EnqueueRequest)(nil), &dodoor.EnqueueRequest{}, (*dodoor.ClaimRequest)(nil), &dodoor.ClaimRequest{},
		(*dodoor.SchedulerRef)(nil), &dodoor.SchedulerRef{}, (*dodoor.Delta)(nil), &dodoor.Delta{}, (*dodoor.Node)(nil), &dodoor.Node{},
		(*dodoor.Report)(nil), &dodoor.Report{}, (*dodoor.CompletionNotice)(nil), &dodoor.CompletionNotice{}, "", (*dodoor.TaskQuery)(nil)}
}
