package scheduler

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// allowedByOne is a replica of two workers, and a task that the second of them has: the first does not allow it.
func allowedByOne(t *testing.T) (*Replica, Dispatch) {
	t.Helper()
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	d := runOf(t, r, 0, &cluster.Job{ID: "j", Retries: 1}, 0, nil)
	actions := r.Acknowledged(0, []Dispatch{d}, refusedBy(d, cluster.NotAllowed))
	if len(actions.Send) != 1 || actions.Send[0].Node == d.Node {
		t.Fatalf("%+v", actions)
	}
	d = actions.Send[0]
	acknowledge(r, 0, d)
	return r, d
}

// The only worker that allows a command may be away for a moment: its tasks wait for it, whatever made them leave it.
func TestTheOnlyWorkerThatAllowsItIsAway(t *testing.T) {
	const now = time.Second
	for name, leaves := range map[string]func(r *Replica, d Dispatch){
		"out of reach": func(r *Replica, d Dispatch) { r.NodeDown(now, d.Node, 1, d.Assignment.Number) },
		"it failed, and the worker drains": func(r *Replica, d Dispatch) {
			r.Suspect(d.Node, 1)
			finish(t, r, now, d, cluster.Failed)
		},
		"left the cluster": func(r *Replica, d Dispatch) {
			noAnswer(r, now, pushed(t, r, now, 2, []cluster.Node{r.Node(1 - d.Node)}))
		},
	} {
		r, d := allowedByOne(t)
		worker := r.Node(d.Node)
		leaves(r, d)
		r.Tick(now + time.Second)
		if r.Pending() != 1 {
			t.Errorf("%s: the task ended: %+v", name, r.JobTasks(&cluster.JobTaskQuery{Job: "j", Max: 1}))
			continue
		}
		actions := r.Attached(now+2*time.Second, d.Node, worker.Name,
			&cluster.AttachReply{Incarnation: 1, Report: cluster.Report{Node: worker.Name}})
		if name == "left the cluster" {
			nodes := []cluster.Node{r.Node(1 - d.Node), worker}
			actions, _ = r.Push(now+2*time.Second, snapshotOf(3, nodes, make([]cluster.Load, 2)))
		}
		sent := 0
		for _, s := range actions.Send {
			if s.Assignment.TaskID == "j.0" && r.Node(s.Node).Name == worker.Name {
				sent++
			}
		}
		if sent != 1 {
			t.Errorf("%s: the worker is back, and gets %+v", name, actions.Send)
		}
	}
}

// A submission that meets bars alone is refused for now, where a worker that is out of reach could allow it.
func TestSubmittedWhileTheOnlyWorkerIsAway(t *testing.T) {
	r, d := allowedByOne(t)
	r.Suspect(d.Node, 1)
	template := programOf("x")
	_, refusal := r.SubmitJob(0, &cluster.Job{ID: "j"}, "", commandOf("j", 1, template, template.Digest()))
	if refusal == nil || refusal.Code != cluster.NoFeasibleNode || !strings.Contains(refusal.Message, "not now") {
		t.Errorf("%v: want it refused for now, with the words of the other", refusal)
	}
}

// A worker that does not allow a program is not asked by any task of it, whatever its arguments, until a minute later;
// other programs are
// tried there.
func TestBarsHoldForTheProgram(t *testing.T) {
	r := replicaWith(t, testConfig(), paperPolicy(t), paperNodes(2))
	run := func(now time.Duration, index int64, argv ...string) Dispatch {
		return runOf(t, r, now, &cluster.Job{ID: "j"}, index, func(s *cluster.TaskSpec) {
			s.Command.Template = &cluster.Template{Argv: argv}
			s.Command.Digest = s.Command.Template.Digest()
		})
	}
	first := run(0, 0, "tool", "0")
	bad := first.Node
	sent := r.Acknowledged(0, []Dispatch{first}, refusedBy(first, cluster.NotAllowed)).Send
	finish(t, r, 0, sent[0], cluster.Finished)
	r.Tick(1)
	others, later := 0, 0
	for i := range int64(30) {
		if d := run(2, 1+i, "tool", string(rune('a'+i))); d.Node == bad {
			t.Fatalf("task %d asks node %d once more", 1+i, bad)
		}
		if run(2, 100+i, "other", string(rune('a'+i))).Node == bad {
			others++
		}
	}
	r.Tick(barredFor)
	for i := range int64(30) {
		if run(barredFor, 200+i, "tool", string(rune('a'+i))).Node == bad {
			later++
		}
	}
	if others == 0 || later == 0 {
		t.Errorf("%d tasks of another program, and %d of this one a minute later", others, later)
	}
}
