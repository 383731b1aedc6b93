package nemesis

import (
	"context"
	"sync"

	"dodoor/chaos"
	"dodoor/generator/session"
)

// withdraw asks every scheduler to end the tasks that are to be withdrawn, each at its time and once. It ends early with ctx: then the
// client waits for nothing any more.
func (c *client) withdraw(ctx context.Context, tasks []*chaos.Task) {
	var all sync.WaitGroup
	for _, t := range tasks {
		if t.Withdrawn == 0 {
			continue
		}
		all.Go(func() {
			if !pause(ctx, t.Withdrawn-c.now()) {
				return
			}
			for i := range c.targets {
				all.Go(func() { c.withdrawAt(ctx, &c.targets[i], t.ID) })
			}
		})
	}
	all.Wait()
}

// withdrawAt asks one of them, and tells of it before and after.
func (c *client) withdrawAt(ctx context.Context, at *session.Target, task string) {
	asked := chaos.Record{Kind: chaos.Withdrawn, Task: task, Scheduler: at.Name, Answer: chaos.Unknown}
	c.tell(asked)
	found, err := at.Service.Cancel(ctx, task)
	if err != nil {
		return
	}
	if asked.Answer = chaos.Refused; found {
		asked.Answer = chaos.Accepted
	}
	c.tell(asked)
}
