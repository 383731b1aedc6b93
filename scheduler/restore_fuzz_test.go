package scheduler

import (
	"fmt"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// keptSample is what a journal may look like: a job with open and ended tasks, results, and tasks of every fate.
func keptSample(t testing.TB) disk {
	cfg := keeping(testConfig(), testIncarnation, time.Hour)
	r := replicaWith(t, cfg, paperPolicy(t), []cluster.Node{nodeOf("a", 8, 1000), nodeOf("b", 8, 1000)})
	kept := disk{}
	job := &cluster.Job{ID: "j", Retries: 1}
	for i := range int64(4) {
		template := programOf("x")
		spec := commandOf("j", i, template, template.Digest())
		spec.Command.Entries = []string{"entry", fmt.Sprint(i)}
		if i == 3 {
			spec.ID = "odd"
		}
		actions, refusal := r.SubmitJob(time.Second, job, "", spec)
		if refusal != nil {
			t.Fatal(refusal)
		}
		d := actions.Send[0]
		acknowledge(r, time.Second, d)
		if i > 1 {
			finish(t, r, 2*time.Second, d, cluster.Cancelled)
		} else if i == 1 {
			finish(t, r, 2*time.Second, d, cluster.Failed)
		}
	}
	for i := range 3 {
		spec := request(fmt.Sprint("t", i), 1, 1, 1000)
		spec.AtMostOnce = i == 1
		if d := submit(t, r, 3*time.Second, spec); i == 2 {
			finish(t, r, 4*time.Second, d, cluster.Finished)
		}
	}
	r.NodeDown(5*time.Second, 0, 1, 3)
	kept.sync(r)
	return kept
}

// Whatever stands in one value of a journal, or is missing, a replica starts from it and goes on, or says which key is broken.
func FuzzRestore(f *testing.F) {
	for key, value := range keptSample(f) {
		f.Add(key, value)
		f.Add(key, []byte{})
		f.Add(key, value[:len(value)/2])
	}
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		for _, but := range []bool{false, true} {
			kept := keptSample(t)
			if kept[key] = value; but {
				delete(kept, key)
			}
			r, err := Restore(keeping(testConfig(), testIncarnation+1, 2*time.Hour), paperPolicy(t), kept.each)
			if err != nil {
				continue
			}
			goOn(t, r)
		}
	})
}

// goOn has a restored replica do a bit of everything.
func goOn(t *testing.T, r *Replica) {
	kept := disk{}
	r.Tick(time.Millisecond)
	if _, err := r.Push(0, func() *cluster.Snapshot {
		s := snapshotOf(1, []cluster.Node{nodeOf("a", 8, 1000)}, make([]cluster.Load, 1))
		s.ReceiverIncarnation = r.cfg.Incarnation
		return s
	}()); err != nil {
		t.Fatal(err)
	}
	for i := range r.nodes.slots {
		n := &r.nodes.slots[i]
		r.Attached(time.Second, i, n.Name, attachReply(n.Name, n.Incarnation, 0))
		holdings := []cluster.Holding{cluster.Held, cluster.Never, cluster.Gone}
		r.claimed(time.Second, i, n.Incarnation, holdings[:min(len(holdings), len(n.claims))])
	}
	kept.sync(r)
	r.Query(cluster.TaskQuery{Max: 100})
	for _, j := range r.Jobs(&cluster.JobQuery{Max: 100}) {
		r.JobTasks(&cluster.JobTaskQuery{Job: j.ID, Max: 100})
		r.CancelJob(time.Second, cluster.Everybody, j.ID)
		_, _, _ = r.RetryJob(time.Second, cluster.Everybody, j.ID) // it may be full
	}
	if _, _, err := r.Collect(nil, &cluster.CollectRequest{Client: "client", Max: 100}); err != nil {
		t.Fatal(err)
	}
	r.Tick(2 * time.Second)
	r.Tick(100 * time.Hour)
	kept.sync(r)
}
