package scheduler

import (
	"reflect"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

const oracleBegan = 1_000_000 * time.Hour

// checkKept compares what the changes add up to with what there is to be kept, and now and then what a restarted replica makes
// of it with the one that is there.
func (o *jobsOracle) checkKept() {
	o.disk.sync(o.r)
	if problem := o.disk.differs(o.r); problem != "" {
		o.Fatal(problem)
	}
	if rapid.IntRange(0, 15).Draw(o.T, "restored") > 0 {
		return
	}
	later := o.now + time.Hour
	cfg := keeping(o.r.cfg, testIncarnation+1, oracleBegan+later)
	r, err := Restore(cfg, o.r.policy, o.disk.each)
	if err != nil {
		o.Fatal(err)
	}
	if problem := o.disk.differs(r, keyMeta); problem != "" {
		o.Fatal("restored: " + problem)
	}
	for _, j := range o.jobs {
		was, is := o.r.Jobs(&cluster.JobQuery{ID: j.ID}), r.Jobs(&cluster.JobQuery{ID: j.ID})
		for i := range is {
			if is[i].Ended != 0 {
				is[i].Ended += later
			}
		}
		if !reflect.DeepEqual(was, is) {
			o.Fatalf("job %s is restored as %+v, and was %+v", j.ID, is, was)
		}
		every := &cluster.JobTaskQuery{Job: j.ID, Max: 1000}
		wasTasks, tasks := o.r.JobTasks(every), r.JobTasks(every)
		for i := range tasks {
			if tasks[i].Reason == "" {
				wasTasks[i].Reason = "" // its record was collected
			}
		}
		if !reflect.DeepEqual(wasTasks, tasks) {
			o.Fatalf("the tasks of job %s are restored as %+v, and were %+v", j.ID, tasks, wasTasks)
		}
	}
	if r.Pending() != o.r.Pending() || r.Uncollected() != o.r.Uncollected() || r.bytes != o.r.bytes || r.cancelling != o.r.cancelling ||
		r.jobs.kept != o.r.jobs.kept || r.jobs.bytes != o.r.jobs.bytes {
		o.Fatalf("%d tasks and %d results are restored, %d and %d there were; or bytes are counted otherwise", r.Pending(), r.Uncollected(),
			o.r.Pending(), o.r.Uncollected())
	}
}
