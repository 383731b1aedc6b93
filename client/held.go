package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

const (
	askedAtOnce = 32   // workers, or schedulers, about what they hold
	heldPage    = 4096 // tasks of a worker that are asked for at a time
)

// everyWorker calls do for every registered worker, several at once, and returns the errors of those that do not answer.
func (c *Cluster) everyWorker(ctx context.Context, do func(node *cluster.Node, w Worker) error) error {
	if c.Nodes == nil {
		return nil
	}
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return fmt.Errorf("which workers there are is not known: %w", err)
	}
	c.note(nodes)
	errs := make([]error, len(nodes))
	turns := make(chan struct{}, askedAtOnce)
	var calls sync.WaitGroup
	for i := range nodes {
		turns <- struct{}{}
		calls.Go(func() {
			defer func() { <-turns }()
			if err := do(&nodes[i].Node, c.dial(nodes[i].Node.Name, nodes[i].Node.Address)); err != nil {
				errs[i] = fmt.Errorf("worker %s: %w", nodes[i].Node.Name, err)
			}
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// Held lists what workers hold that a query is about, up to a number of each. What is known is returned along with the errors
// of those who do not answer.
func (c *Cluster) Held(ctx context.Context, q cluster.TaskQuery, most int) ([]cluster.TaskStatus, error) {
	var mu sync.Mutex
	var all []cluster.TaskStatus
	err := c.everyWorker(ctx, func(_ *cluster.Node, w Worker) error {
		list, err := heldBy(ctx, w, q, most)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, list...)
		return err
	})
	return all, err
}

// heldBy asks one worker, page by page.
func heldBy(ctx context.Context, w Worker, q cluster.TaskQuery, most int) (all []cluster.TaskStatus, err error) {
	for len(all) < most {
		q.Max = min(most-len(all), heldPage)
		list, err := w.Tasks(ctx, q)
		all = append(all, list...)
		if err != nil || len(list) == 0 || q.ID != "" || list[len(list)-1].ID == q.After {
			return all, err
		}
		q.After = list[len(list)-1].ID
	}
	return all, nil
}

// answering is the names of the schedulers that answered a question, by the errors of all.
func (c *Cluster) answering(errs []error) (names []string) {
	for i := range c.Schedulers {
		if errs[i] == nil {
			names = append(names, c.Schedulers[i].Name)
		}
	}
	return names
}

// allTasks is more than any worker holds.
const allTasks = 1 << 30

// orphans lists the tasks of a job, in order, that workers hold for no scheduler that answers: one of each index.
func (c *Cluster) orphans(ctx context.Context, job string, from int64, unsuccessful bool, answering []string) ([]cluster.JobTask, error) {
	held, err := c.Held(ctx, cluster.TaskQuery{Job: job, Answering: answering}, allTasks)
	var tasks []cluster.JobTask
	for i := range held {
		t := orphan(&held[i])
		if t.Index >= from && (!unsuccessful || t.Outcome > cluster.Finished) {
			tasks = append(tasks, t)
		}
	}
	slices.SortFunc(tasks, func(a, b cluster.JobTask) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(rank(&b), rank(&a)))
	})
	return slices.CompactFunc(tasks, func(a, b cluster.JobTask) bool { return a.Index == b.Index }), err
}

// Orphaned tells whether workers have anything of a job for schedulers that are not there any more.
func (c *Cluster) Orphaned(ctx context.Context, job string) bool {
	held, _ := c.orphans(ctx, job, 0, false, c.answering(make([]error, len(c.Schedulers))))
	return len(held) > 0
}

// orphan is a task as its worker alone knows it.
func orphan(s *cluster.TaskStatus) cluster.JobTask {
	t := cluster.JobTask{Index: s.Index, ID: s.ID, Worker: s.Node, Attempts: s.Attempt}
	if r := s.Record; r != nil {
		t.Outcome, t.ExitCode, t.Run, t.Printed, t.Reason = r.Outcome, r.ExitCode, r.Run, r.Printed, r.Reason
	}
	return t
}

// CancelTask has a task ended, wherever it is: at every scheduler that has it, and, where one does not answer or none has it, at
// the workers. It returns who ends it; the errors are of those who do not answer.
func (c *Cluster) CancelTask(ctx context.Context, id string) (by []string, err error) {
	var mu sync.Mutex
	found := func(who string) {
		mu.Lock()
		defer mu.Unlock()
		by = append(by, who)
	}
	errs := c.every(func(_ int, s *session.Target) error {
		has, err := s.Service.Cancel(ctx, id)
		if has {
			found(s.Name)
		}
		return err
	})
	if err = errors.Join(errs...); err == nil && len(by) > 0 {
		return by, nil
	}
	atWorkers := c.everyWorker(ctx, func(n *cluster.Node, w Worker) error {
		has, err := w.Cancel(ctx, id, "")
		if has {
			found("worker " + n.Name)
		}
		return err
	})
	slices.Sort(by)
	return by, errors.Join(err, atWorkers)
}

// cancelOrphans ends what workers hold of a job for no scheduler that answers, and returns how many tasks that is.
func (c *Cluster) cancelOrphans(ctx context.Context, job string, answering []string) (total int64, err error) {
	var mu sync.Mutex
	err = c.everyWorker(ctx, func(_ *cluster.Node, w Worker) error {
		held, err := heldBy(ctx, w, cluster.TaskQuery{Job: job, Answering: answering}, allTasks)
		for i := range held {
			if held[i].Phase == cluster.Ended {
				continue
			}
			has, failed := w.Cancel(ctx, held[i].ID, "")
			if err = cmp.Or(err, failed); has {
				mu.Lock()
				total++
				mu.Unlock()
			}
		}
		return err
	})
	return total, err
}
