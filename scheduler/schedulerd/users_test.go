package schedulerd

import (
	"context"
	"errors"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/rpc"
)

// Whose a task is says the caller, whatever a message says, and every handler asks who calls.
func TestCallersAreTheUsers(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	d := newReplica(t, data.Addr(), dodoor(t))
	start(t, d)
	w := startWorker(t, "w", data.Addr())
	untilReady(t, d, 1)
	alice := rpc.WithCaller(t.Context(), identity.Identity{Role: identity.User, Name: "alice"})
	bob := rpc.WithCaller(t.Context(), identity.Identity{Role: identity.User, Name: "bob"})
	carol := rpc.WithCaller(t.Context(), identity.Identity{Role: identity.Operator, Name: "carol"})
	template := &cluster.Template{Argv: []string{"x"}}
	r := cluster.SubmitRequest{Client: "c", Job: &cluster.Job{ID: "j", User: "bob"}, Tasks: []cluster.TaskSpec{{ID: "j.0", TimeScale: 1,
		User: "bob", Command: &cluster.Command{Digest: template.Digest(), Template: template, Job: "j"}}}}
	if refused, err := d.Submit(alice, r); err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	w.until(t, "got the task", func() bool { return len(w.held) == 1 && w.held["j.0"].User == "alice" })
	if refused, err := d.Submit(bob, r); err != nil || len(refused) != 1 {
		t.Errorf("bob's into alice's job: %+v, %v", refused, err)
	}
	every := cluster.TaskQuery{Max: 10, For: cluster.Everybody} // what a request says of that counts for nothing
	for _, of := range []struct {
		name string
		ctx  context.Context
		sees int
	}{{"alice", alice, 1}, {"bob", bob, 0}, {"carol", carol, 1}, {"nobody", t.Context(), 1}} {
		tasks, _ := d.Tasks(of.ctx, every)
		jobs, err := d.Jobs(of.ctx, cluster.JobQuery{Max: 10, For: cluster.Everybody})
		jobTasks, _ := d.JobTasks(of.ctx, cluster.JobTaskQuery{Job: "j", Max: 10, For: cluster.Everybody})
		if len(tasks) != of.sees || len(jobs) != of.sees || len(jobTasks) != of.sees || err != nil {
			t.Errorf("%s sees %+v, %+v, %+v, %v", of.name, tasks, jobs, jobTasks, err)
		}
	}
	found, err := d.Cancel(bob, "j.0")
	n, _ := d.CancelJob(bob, "j")
	known, _ := d.ForgetJob(bob, "j")
	if _, again := d.RetryJob(bob, "j"); found || n != 0 || known || err != nil || !errors.Is(again, cluster.UnknownTask) {
		t.Errorf("bob: %t, %d, %t, %v, %v", found, n, known, err, again)
	}
	c := rpc.NewSchedulerClient(d.Addr(), cluster.Standard(), rpc.Default())
	defer c.Close()
	w.finishAll(t, c)
	collect := cluster.CollectRequest{Client: "c", Max: 10, For: cluster.Asker{User: "alice"}}
	for _, ctx := range []context.Context{bob, carol, t.Context()} {
		if reply, err := d.Collect(ctx, collect); err != nil || len(reply.Records) > 0 {
			t.Errorf("%+v, %v", reply.Records, err)
		}
	}
	if reply, err := d.Collect(alice, collect); err != nil || len(reply.Records) != 1 || reply.Records[0].User != "alice" {
		t.Errorf("alice: %+v, %v", reply.Records, err)
	}
}
