package scheduler

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// What a replica says of its jobs follows from what it accepted and from the results that it handed out, whatever
// happened: refusals of every kind, failures, lost and restarted workers, cancellations, repeated and late notices.
func TestJobsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := newJobsOracle(t)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			o.now += time.Millisecond * time.Duration(rapid.SampledFrom([]int{0, 1, 300, 5000}).Draw(t, "later"))
			o.step()
			o.check()
		}
		o.settle()
	})
}

// jobsOracle is a replica with a few jobs and workers, and what is known of its tasks from outside.
type jobsOracle struct {
	*rapid.T
	r         *Replica
	now       time.Duration
	nodes     []cluster.Node
	version   int64
	jobs      []cluster.Job
	templates []*cluster.Template
	sent      []Dispatch // all
	cursor    int64
	disk      disk

	accepted map[string]string          // job by task
	ended    map[string]cluster.Outcome // by task
	attempts map[string]int             // the latest by task
	failures map[string]int             // executions of a task that failed, since it was last asked for
	barred   map[string]time.Duration   // since when, by template on worker process
	again    map[string]bool            // tasks that run again by request
}

func newJobsOracle(t *rapid.T) *jobsOracle {
	cfg := keeping(testConfig(), testIncarnation, oracleBegan)
	cfg.MaxAttempts, cfg.ReplaceTimeout = 3, 2*time.Second
	policy, err := PaperPolicy.Build(nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(cfg, policy)
	if err != nil {
		t.Fatal(err)
	}
	o := &jobsOracle{T: t, r: r, nodes: []cluster.Node{nodeOf("a", 8, 1000), nodeOf("b", 8, 1000), nodeOf("c", 8, 1000)},
		templates: []*cluster.Template{programOf("x"), programOf("y")},
		accepted:  map[string]string{}, ended: map[string]cluster.Outcome{}, attempts: map[string]int{}, failures: map[string]int{},
		barred: map[string]time.Duration{}, again: map[string]bool{}, disk: disk{}}
	for i := range 3 {
		o.jobs = append(o.jobs, cluster.Job{ID: fmt.Sprint("j", i), Retries: rapid.IntRange(0, 2).Draw(t, "retries"),
			CrashLimit: rapid.IntRange(0, 2).Draw(t, "crash limit"), MaxFails: rapid.SampledFrom([]int64{0, 0, 2}).Draw(t, "max fails")})
	}
	o.push()
	return o
}

func (o *jobsOracle) push() {
	o.version++
	actions, err := o.r.Push(o.now, snapshotOf(o.version, append([]cluster.Node(nil), o.nodes...), make([]cluster.Load, len(o.nodes))))
	if err != nil {
		o.Fatal(err)
	}
	o.perform(actions)
}

func (o *jobsOracle) step() {
	switch rapid.SampledFrom([]string{"submit", "submit", "submit", "answer", "answer", "end", "end", "end", "tick", "down", "back", "restart",
		"cancel task", "cancel job", "retry", "forget"}).Draw(o.T, "step") {
	case "submit":
		o.submit()
	case "answer":
		o.answer()
	case "end":
		o.end()
	case "tick":
		o.perform(o.r.Tick(o.now))
	case "down":
		i := rapid.IntRange(0, len(o.nodes)-1).Draw(o.T, "node")
		o.perform(o.r.NodeDown(o.now, i, o.r.Node(i).Incarnation, allAttempted))
	case "back":
		i := rapid.IntRange(0, len(o.nodes)-1).Draw(o.T, "node")
		n := o.r.Node(i)
		o.perform(o.r.Attached(o.now, i, n.Name, &cluster.AttachReply{Incarnation: n.Incarnation, Report: cluster.Report{Node: n.Name}}))
	case "restart":
		o.nodes[rapid.IntRange(0, len(o.nodes)-1).Draw(o.T, "node")].Incarnation++
		o.push()
	case "cancel task":
		if d := o.dispatch(); d != nil {
			actions, _ := o.r.Cancel(o.now, cluster.Everybody, d.Assignment.TaskID)
			o.perform(actions)
		}
	default:
		o.ofJob(rapid.SampledFrom([]string{"cancel", "retry", "forget"}).Draw(o.T, "what"), rapid.SampledFrom(o.jobs).Draw(o.T, "job").ID)
	}
}

// ofJob cancels a job, runs it again or forgets it.
func (o *jobsOracle) ofJob(what, job string) {
	switch what {
	case "cancel":
		open := o.open(job)
		actions, tasks := o.r.CancelJob(o.now, cluster.Everybody, job)
		if int(tasks) != open {
			o.Fatalf("%d tasks of job %s are cancelled, %d are open", tasks, job, open)
		}
		o.perform(actions)
	case "retry":
		var bad []string
		for id, outcome := range o.ended {
			if o.accepted[id] == job && outcome != cluster.Finished {
				bad = append(bad, id)
			}
		}
		actions, tasks, err := o.r.RetryJob(o.now, cluster.Everybody, job)
		if err != nil {
			return // nobody takes placements, or it is not known
		}
		if int(tasks) != len(bad) {
			o.Fatalf("%d tasks of job %s run again, %d ended otherwise than well", tasks, job, len(bad))
		}
		for _, id := range bad {
			delete(o.ended, id)
			delete(o.failures, id)
			o.again[id] = true
		}
		o.perform(actions)
	case "forget":
		open := o.open(job)
		known, err := o.r.ForgetJob(cluster.Everybody, job)
		if (err != nil) != (open > 0) || known && open > 0 {
			o.Fatalf("job %s has %d open tasks; forgotten: %v, %v", job, open, known, err)
		}
		if known {
			o.forget(job)
		}
	}
}

func (o *jobsOracle) forget(job string) {
	for id, of := range o.accepted {
		if of == job {
			delete(o.accepted, id)
			delete(o.ended, id)
		}
	}
}

// open is how many tasks of a job have not ended.
func (o *jobsOracle) open(job string) (n int) {
	for id, of := range o.accepted {
		if _, ended := o.ended[id]; of == job && !ended {
			n++
		}
	}
	return n
}
