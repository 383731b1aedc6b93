package scheduler

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// jobReplica is a replica with a few idle workers.
func jobReplica(t testing.TB) *Replica {
	return replicaWith(t, testConfig(), paperPolicy(t), paperNodes(5))
}

// runOf submits a task of a job, which must be taken.
func runOf(t testing.TB, r *Replica, now time.Duration, j *cluster.Job, index int64, change func(s *cluster.TaskSpec)) Dispatch {
	t.Helper()
	template := programOf("x")
	spec := commandOf(j.ID, index, template, template.Digest())
	if change != nil {
		change(spec)
	}
	actions, refusal := r.SubmitJob(now, j, "client", spec)
	if refusal != nil || len(actions.Send) != 1 {
		t.Fatalf("%v, %+v", refusal, actions)
	}
	return actions.Send[0]
}

// A worker repeats its notices: one of an execution that failed, and was followed by another, says nothing new.
func TestARepeatedFailureIsNoOther(t *testing.T) {
	r := jobReplica(t)
	first := runOf(t, r, 0, &cluster.Job{ID: "j", Retries: 2}, 0, nil)
	second := finish(t, r, 0, first, cluster.Failed).Send[0]
	for range 5 {
		if actions := finish(t, r, 0, first, cluster.Failed); len(actions.Send) > 0 || len(actions.Cancel) > 0 || r.Pending() != 1 {
			t.Fatalf("a repeated notice: %+v", actions)
		}
	}
	third := finish(t, r, 0, second, cluster.Failed).Send[0]
	if third.Assignment.Attempt != 3 {
		t.Errorf("attempt %d, want the third", third.Assignment.Attempt)
	}
	finish(t, r, 0, third, cluster.Failed)
	if records, _ := collectAll(t, r, 0); len(records) != 1 || records[0].Outcome != cluster.Failed || records[0].Attempts != 3 {
		t.Errorf("records %+v: want it failed after three attempts", records)
	}
}

// An execution that was given up for lost, and fails after all, is one of the tries; the one that followed it goes on.
func TestALateFailureLeavesTheNextTryAlone(t *testing.T) {
	r := jobReplica(t)
	first := runOf(t, r, 0, &cluster.Job{ID: "j", Retries: 1}, 0, nil)
	acknowledge(r, 0, first)
	second := r.NodeDown(0, first.Node, 1, first.Assignment.Number).Send[0]
	for range 2 {
		if actions := finish(t, r, 0, first, cluster.Failed); len(actions.Send) > 0 || len(actions.Cancel) > 0 || r.Pending() != 1 {
			t.Fatalf("the late notice: %+v", actions)
		}
	}
	finish(t, r, 0, second, cluster.Failed)
	if records, _ := collectAll(t, r, 0); len(records) != 1 || records[0].Outcome != cluster.Failed {
		t.Errorf("records %+v: both tries failed, and one retry was allowed", records)
	}
}

// What was cancelled, or must not run twice, is not tried again.
func TestWhatIsNotRetried(t *testing.T) {
	for _, once := range []bool{true, false} {
		r := jobReplica(t)
		d := runOf(t, r, 0, &cluster.Job{ID: "j", Retries: 5}, 0, func(s *cluster.TaskSpec) { s.AtMostOnce = once })
		acknowledge(r, 0, d)
		if !once {
			r.Cancel(0, cluster.Everybody, "j.0")
		}
		if actions := finish(t, r, 0, d, cluster.Failed); len(actions.Send) > 0 || r.Pending() > 0 {
			t.Errorf("at most once %v: it runs again", once)
		}
	}
}

// A large job is cancelled in parts, and what comes after somebody asked for it is left alone.
func TestALargeJobIsCancelledInParts(t *testing.T) {
	r := jobReplica(t)
	j := &cluster.Job{ID: "j"}
	for i := range int64(2*sweepMost + 1) {
		acknowledge(r, 0, runOf(t, r, 0, j, i, nil))
	}
	actions, n := r.CancelJob(time.Second, cluster.Everybody, "j")
	if n != 2*sweepMost+1 || len(actions.Cancel) != sweepMost {
		t.Fatalf("%d tasks are cancelled, %d at once", n, len(actions.Cancel))
	}
	runOf(t, r, 2*time.Second, j, 2*sweepMost+5, nil)
	for _, want := range []int{sweepMost, 1, 0} {
		if got := len(r.Tick(3 * time.Second).Cancel); got != want {
			t.Errorf("%d tasks are cancelled with a tick, want %d", got, want)
		}
	}
	if list := r.JobTasks(&cluster.JobTaskQuery{Job: "j", From: 2 * sweepMost, Max: 10}); len(list) != 2 || r.tasks["j.16389"].cancel {
		t.Errorf("%+v", list)
	}
}

// Results that nobody collects never wait, and make room for newer ones; they can be asked for meanwhile.
func TestResultsThatNobodyCollects(t *testing.T) {
	cfg := testConfig()
	cfg.RetainResults = 3
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(5))
	template := programOf("x")
	for i := range int64(10) {
		actions, refusal := r.SubmitJob(0, &cluster.Job{ID: "j"}, "", commandOf("j", i, template, template.Digest()))
		if refusal != nil {
			t.Fatal(refusal)
		}
		if woken := finish(t, r, 0, actions.Send[0], cluster.Failed).Wake; !woken {
			t.Error("nobody hears that the job has no open task")
		}
		r.Tick(0)
		if err := r.Admit("", "client", 1); err != nil || r.Uncollected() != 0 {
			t.Fatalf("%v, %d uncollected", err, r.Uncollected())
		}
	}
	if got := ids(r.Query(cluster.TaskQuery{Max: 10})); strings.Join(got, " ") != "j.9 j.8 j.7" {
		t.Errorf("kept: %v", got)
	}
	if got := r.JobTasks(&cluster.JobTaskQuery{Job: "j", Max: 100, Unsuccessful: true}); len(got) != 10 {
		t.Errorf("the job tells of %d tasks, want all", len(got))
	}
}

// A task that waits for a busy worker fails once that one has said that it does not allow its command.
func TestWaitingForAWorkerThatDoesNotAllowIt(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	j := &cluster.Job{ID: "j"}
	waits, asks := runOf(t, r, time.Second, j, 0, nil), runOf(t, r, time.Second, j, 1, nil)
	r.Acknowledged(time.Second, []Dispatch{waits}, refusedBy(waits, cluster.QueueFull))
	r.Acknowledged(time.Second, []Dispatch{asks}, refusedBy(asks, cluster.NotAllowed))
	r.Tick(2 * time.Second)
	records, _ := collectAll(t, r, 0)
	if len(records) != 2 || records[1].Outcome != cluster.Failed || records[1].Reason != "no worker allows it: not now" {
		t.Errorf("records %+v", records)
	}
}

// Submissions that contradict themselves are refused with what is wrong.
func TestSubmissionsOfAJob(t *testing.T) {
	template, j := programOf("x"), &cluster.Job{ID: "j"}
	again := commandOf("j", 0, template, template.Digest())
	again.ID = "other"
	for want, c := range map[string]struct {
		job  *cluster.Job
		spec *cluster.TaskSpec
	}{
		"has to bring a command":                          {j, request("a", 1, 1, 1)},
		"belongs to job \"k\", the submission to job j":   {j, commandOf("k", 1, template, template.Digest())},
		"job k, which the submission does not describe":   {nil, commandOf("k", 1, template, template.Digest())},
		"already has a task with index 0":                 {j, again},
		"does not know template " + template.Digest()[:9]: {j, commandOf("j", 1, nil, template.Digest()[:9])},
	} {
		r := jobReplica(t)
		runOf(t, r, 0, j, 0, nil)
		if _, refusal := r.SubmitJob(0, c.job, "", c.spec); refusal == nil || !strings.Contains(refusal.Message, want) || r.Pending() != 1 {
			t.Errorf("%v: want it to say that it %s", refusal, want)
		}
	}
}

// A command needs a core and runs as long as is usual, where its submission does not say; what it says counts.
func TestUsualFiguresOfACommand(t *testing.T) {
	r := jobReplica(t)
	demand, duration := cluster.Resources{cluster.Cores: 2000, cluster.Memory: 64}, int64(77)
	for i, c := range []struct {
		demand   *cluster.Resources
		duration *int64
		want     cluster.Shape
	}{
		{nil, nil, cluster.Shape{Demand: cluster.Resources{1000}, Duration: 10_000}},
		{&demand, nil, cluster.Shape{Demand: demand, Duration: 10_000}},
		{nil, &duration, cluster.Shape{Demand: cluster.Resources{1000}, Duration: 77}},
	} {
		d := runOf(t, r, 0, &cluster.Job{ID: "j"}, int64(i), func(s *cluster.TaskSpec) { s.Demand, s.Duration = c.demand, c.duration })
		if d.Assignment.Shape != c.want || d.Assignment.Type != cluster.CommandType || d.Assignment.Command.Index != int64(i) {
			t.Errorf("assignment %+v, want shape %+v", d.Assignment, c.want)
		}
	}
}

// Answers fit into a message, however large the entries are; page by page everything is told.
func TestPagesOfAJob(t *testing.T) {
	r := jobReplica(t)
	const tasks = 30
	for i := range int64(tasks) {
		runOf(t, r, 0, &cluster.Job{ID: "j", Text: strings.Repeat("x", 40_000)}, i, func(s *cluster.TaskSpec) {
			s.Command.Entries = []string{strings.Repeat("e", cluster.MaxEntry)}
		})
		runOf(t, r, 0, &cluster.Job{ID: "j" + strings.Repeat("k", int(i)), Text: strings.Repeat("x", 40_000)}, 1000, nil)
	}
	told, pages := int64(0), 0
	for from := int64(0); ; pages++ {
		list := r.JobTasks(&cluster.JobTaskQuery{Job: "j", From: from, Max: 1000})
		if len(list) == 0 {
			break
		}
		told += int64(len(list))
		if from = list[len(list)-1].Index + 1; len(list) > pageBytes/cluster.MaxEntry+1 {
			t.Fatalf("a page of %d entries of 64 KiB", len(list))
		}
	}
	if told != tasks+1 || pages < 3 {
		t.Errorf("%d tasks on %d pages", told, pages)
	}
	if n := len(r.Jobs(&cluster.JobQuery{Max: 1000})); n < 10 || n > 15 {
		t.Errorf("%d jobs in an answer", n)
	}
}
