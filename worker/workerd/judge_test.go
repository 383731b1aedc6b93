package workerd

import (
	"context"
	"testing"
	"testing/synctest"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// slow is an executor that looks at files of a file system that does not answer.
type slow struct {
	executor.Base
	looks, answers chan struct{}
}

func (s slow) Allows(string, *cluster.Template) error {
	s.looks <- struct{}{}
	<-s.answers
	return nil
}

func (s slow) Run(context.Context, worker.Start) worker.Result {
	return worker.Result{Outcome: cluster.Finished}
}

// Nobody waits while a command is looked at that the worker does not know.
func TestLookingKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := slow{looks: make(chan struct{}), answers: make(chan struct{})}
		b := start(t, func(c *Config) {
			c.Executors["process"] = e
			c.Node.Executors = append(c.Node.Executors, worker.Executor{Name: "process"})
		})
		b.sched.attach(t)
		placed := make(chan string)
		go func() { placed <- b.sched.command(t, "t", "program") }()
		<-e.looks
		if _, err := b.State(t.Context()); err != nil {
			t.Error(err)
		}
		e.answers <- struct{}{}
		if refusal := <-placed; refusal != "" {
			t.Error(refusal)
		}
	})
}
