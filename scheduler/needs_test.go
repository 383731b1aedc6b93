package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// endedWith is the end of a run of ten seconds that used so many core seconds and MiB.
func endedWith(o cluster.Outcome, cpu time.Duration, peak int64) *cluster.Completion {
	return &cluster.Completion{Outcome: o, Run: 10 * time.Second, Measured: cluster.Measured{CPU: cpu, PeakMemory: peak}}
}

// What is learned of needs: cores that 95 % of the latest did with, and an eighth more, in steps of 50 millicores; memory that all
// did with, and a quarter more, at least 16 MiB. What was killed for memory, or took nine tenths of its cores, needs twice what it
// had. What failed, or was not measured, says nothing.
func TestWhatIsNeeded(t *testing.T) {
	for _, c := range []struct {
		what          string
		ends          []*cluster.Completion
		limit         need
		cores, memory int64
	}{
		{"nothing measured", []*cluster.Completion{endedWith(cluster.Finished, 0, 0)}, need{}, 0, 0},
		{"half a core", []*cluster.Completion{endedWith(cluster.Finished, 5*time.Second, 100)}, need{}, 600, 125},
		{"whole steps", []*cluster.Completion{endedWith(cluster.Finished, 4*time.Second, 10)}, need{}, 450, 26},
		{"next to nothing", []*cluster.Completion{endedWith(cluster.Finished, 0, 4)}, need{}, 50, 20},
		{"no memory measured", []*cluster.Completion{endedWith(cluster.Finished, 20*time.Second, 0)}, need{}, 2250, 0},
		{"the largest peak", []*cluster.Completion{endedWith(cluster.Finished, 1, 400), endedWith(cluster.Finished, 1, 80)}, need{}, 50, 500},
		{"failed", []*cluster.Completion{endedWith(cluster.Failed, 5*time.Second, 100)}, need{}, 0, 0},
		{"out of memory", []*cluster.Completion{oom(100)}, need{1000, 100}, 0, 200},
		{"out of the machine's memory", []*cluster.Completion{oom(1000)}, need{}, 0, 1250},
		{"almost all cores", []*cluster.Completion{endedWith(cluster.Finished, 9*time.Second, 0)}, need{cores: 1000}, 2000, 0},
		{"not quite all", []*cluster.Completion{endedWith(cluster.Finished, 8900*time.Millisecond, 0)}, need{cores: 1000}, 1050, 0},
		{"more than its cores", []*cluster.Completion{endedWith(cluster.Finished, 40*time.Second, 0)}, need{cores: 1000}, 4500, 0},
	} {
		x := tableOf(t, "s1", 1, Learned)
		for _, end := range c.ends {
			x.needed(x.name("sim"), x.classes.Class("a"), end, c.limit)
		}
		if cores, memory := x.name("sim").needs(); cores != c.cores || memory != c.memory {
			t.Errorf("%s: %d millicores, %d MiB, want %d, %d", c.what, cores, memory, c.cores, c.memory)
		}
	}
}

func oom(peak int64) *cluster.Completion {
	c := endedWith(cluster.Failed, time.Second, peak)
	c.OutOfMemory = true
	return c
}

// One in twenty may use more cores; nothing is remembered beyond the latest 32, whatever class they ran on; start-up takes no part
// in how many cores a program needs; of a writer the newest entry counts, and the most that any of them says.
func TestTheLatestNeeds(t *testing.T) {
	x := tableOf(t, "s1", 1, Learned)
	n, a := x.name("sim"), x.classes.Class("a")
	want := func(wantCores, wantMemory int64) {
		t.Helper()
		if cores, memory := n.needs(); cores != wantCores || memory != wantMemory {
			t.Errorf("%d millicores, %d MiB, want %d, %d", cores, memory, wantCores, wantMemory)
		}
	}
	x.needed(n, a, endedWith(cluster.Finished, 80*time.Second, 4000), need{})
	want(9000, 5000)
	for range keptRuns - 1 {
		x.needed(n, a, endedWith(cluster.Finished, 10*time.Second, 400), need{})
	}
	want(1150, 5000)
	x.needed(n, a, endedWith(cluster.Finished, 10*time.Second, 400), need{})
	want(1150, 500)
	started := endedWith(cluster.Finished, 10*time.Second, 400)
	started.Startup = 5 * time.Second
	for range 2 {
		x.needed(n, x.classes.Class("b"), started, need{})
	}
	want(2250, 500)
	for i, told := range []need{{3000, 700}, {50, 800}, {4000, 4000}} {
		x.merge([]cluster.Experience{{Scheduler: "s2", Incarnation: 1, Name: "sim", Class: []string{"a", "b", "c"}[i],
			Number: []int64{1, 3, 2}[i], Cores: told.cores, Memory: told.memory}})
	}
	want(2250, 800)
	if said := x.take(); len(said) != 2 || said[1].Cores != 2250 || said[1].Memory != 500 || len(said[1].Runs) != 0 {
		t.Errorf("%+v", said)
	}
}

// autoTask is a task of a job whose cores and memory experience decides.
func autoTask(r *Replica, index int64) (*Actions, *cluster.Refusal) {
	template := &cluster.Template{Argv: []string{"./sim"}}
	spec := commandOf("j", index, template, template.Digest())
	spec.LearnCores, spec.LearnMemory = true, true
	spec.Demand = &cluster.Resources{1, 2}
	return r.SubmitJob(0, &cluster.Job{ID: "j", Retries: 3}, "", spec)
}

func placedAuto(t *testing.T, r *Replica, index int64) Dispatch {
	t.Helper()
	actions, refusal := autoTask(r, index)
	if refusal != nil {
		t.Fatal(refusal)
	}
	return actions.Send[0]
}

// ends is the worker's notice of an end.
func ends(t *testing.T, r *Replica, d Dispatch, c *cluster.Completion) *Actions {
	t.Helper()
	c.TaskID, c.Number = d.Assignment.TaskID, d.Assignment.Number
	actions, err := r.Completed(0, &cluster.CompletionNotice{Node: r.Node(d.Node).Name, NodeIncarnation: d.NodeIncarnation,
		SchedulerIncarnation: testIncarnation, Completions: []cluster.Completion{*c}})
	if err != nil {
		t.Fatal(err)
	}
	return actions
}

// Before anything is known a task demands a core and no memory; then what those before it did with. One that was killed for
// memory tries again with twice as much, up to the largest node, by itself and when somebody asks.
func TestDemandsThatExperienceDecides(t *testing.T) {
	r := learning(t, Learned)
	want := func(d Dispatch, cores, memory int64) {
		t.Helper()
		if got := d.Assignment.Shape.Demand; got != (cluster.Resources{cores, memory}) {
			t.Errorf("task %s demands %v, want %d millicores, %d MiB", d.Assignment.TaskID, got, cores, memory)
		}
	}
	first := placedAuto(t, r, 1)
	want(first, 1000, 0)
	ends(t, r, first, endedWith(cluster.Finished, 5*time.Second, 100))
	second := placedAuto(t, r, 2)
	want(second, 600, 125)
	for _, memory := range []int64{250, 500, 1000} {
		actions := ends(t, r, second, oom(memory/2))
		if len(actions.Send) != 1 {
			t.Fatalf("%+v", actions)
		}
		second = actions.Send[0]
		want(second, 600, memory)
	}
	third := placedAuto(t, r, 3)
	if want(third, 600, 1000); r.tasks["j.3"].batch != r.tasks["j.2"].batch {
		t.Error("tasks that are alike share no batch")
	}
	ends(t, r, second, oom(1000))
	actions, n, err := r.RetryJob(0, cluster.Everybody, "j")
	if err != nil || n != 1 {
		t.Fatal(n, err)
	}
	want(actions.Send[0], 600, 2000)
	ends(t, r, third, oom(40_000))
	if want(placedAuto(t, r, 4), 600, 50_000); r.experience.names["sim"].tasks != 3 {
		t.Errorf("%d tasks are open", r.experience.names["sim"].tasks)
	}
	ends(t, r, actions.Send[0], oom(60_000))
	want(placedAuto(t, r, 5), 600, 65_536)

	if _, refusal := autoTask(learning(t, Given), 1); refusal == nil || !strings.Contains(refusal.Message, "learns nothing") {
		t.Errorf("where nothing is learned: %v", refusal)
	}
}

// A demand in the submission is nobody else's to change, whatever was learned.
func TestADemandInTheSubmissionStands(t *testing.T) {
	r := learning(t, Learned)
	for i := range 3 {
		s := request(fmt.Sprint("t", i), 2, 64, 1000)
		d := submit(t, r, 0, s)
		if d.Assignment.Shape.Demand != (cluster.Resources{2000, 64}) {
			t.Errorf("%+v", d.Assignment)
		}
		ends(t, r, d, endedWith(cluster.Finished, time.Second, 10))
	}
}
