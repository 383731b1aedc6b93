package sim

import (
	"fmt"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Client is somebody who submits and collects.
type Client struct {
	Name   string
	Tasks  []int32 // of the workload, in order; nil: all of them
	Trusts bool    // what a scheduler has accepted is never submitted again
}

// submitter decides what a client does. Each verb returns actions that are valid until the next one.
type submitter interface {
	Expect(id string, atMostOnce bool) int32
	Open() int
	Start(now time.Duration) *generator.Actions
	Submit(now time.Duration, tasks ...int32) *generator.Actions
	Accepted(now time.Duration, m *generator.Message, refused []cluster.Refusal) *generator.Actions
	Failed(now time.Duration, m *generator.Message, f generator.Failure, err error) *generator.Actions
	Collected(now time.Duration, scheduler int, reply *cluster.CollectReply) *generator.Actions
	PollFailed(now time.Duration, scheduler int, f generator.Failure, err error) *generator.Actions
	Tick(now time.Duration) *generator.Actions
	Stop(now time.Duration) *generator.Actions
	Abandon(now time.Duration, reason string) *generator.Actions
}

// defaultClients is one that submits everything.
var defaultClients = []Client{{Name: "generator"}}

func (s *Simulation) newClients() {
	of := s.cfg.Clients
	if len(of) == 0 {
		of = defaultClients
	}
	for i := range of {
		s.clients = append(s.clients, newGenerator(s, i, of[i]))
	}
	s.rows.open = s.cfg.Workload.Len()
}

// collect has a scheduler answer the polls that it has before it, if there is something to say.
func (s *Simulation) collect(sched int32) {
	for _, g := range s.clients {
		g.collect(sched)
	}
}

// cut ends the polls that a scheduler has before it without an answer.
func (s *Simulation) cut(sched int32, f generator.Failure) {
	for _, g := range s.clients {
		g.cut(sched, f)
	}
}

// abandon ends everything: no result is waited for any more.
func (s *Simulation) abandon(reason string) {
	for _, g := range s.clients {
		g.perform(g.client.Abandon(s.now, reason))
	}
}

// stop ends everything because somebody wants no more of it.
func (s *Simulation) stop() {
	for _, g := range s.clients {
		g.perform(g.client.Stop(s.now))
	}
	s.abandon("abandoned: the run was stopped")
}

// spec is a task as its client submits it.
func (s *Simulation) spec(task int32) cluster.TaskSpec {
	spec := s.cfg.Workload.Task(int(task))
	if s.cfg.Fate != nil {
		spec.AtMostOnce = s.cfg.Fate(spec.ID).AtMostOnce
	}
	return spec
}

// resultOf is how an execution ends by itself.
func (s *Simulation) resultOf(task string) worker.Result {
	if s.cfg.Fate == nil {
		return worker.Result{Outcome: cluster.Finished}
	}
	if code := s.cfg.Fate(task).Exit; code != 0 {
		return worker.Result{Outcome: cluster.Failed, ExitCode: code, Reason: fmt.Sprint("exit code ", code)}
	}
	return worker.Result{Outcome: cluster.Finished}
}

// Fate is what a workload does not say of a task.
type Fate struct {
	AtMostOnce bool
	Exit       int           // code with which it ends
	Withdrawn  time.Duration // when its client asks every scheduler to end it; 0: never
}
