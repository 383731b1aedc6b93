package client

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

// listPage is how many tasks of a scheduler are asked for at a time.
const listPage = 4096

// List shows the tasks that there are, part by part: what each scheduler holds, in their order, up to a number of each, those
// first that have not ended; then what workers hold for schedulers that do not answer, or are not there, up to that number of each.
// Where a task stands at its worker, the worker says. Several schedulers are asked at once, each for one page ahead. It returns the
// errors of those who do not answer, or that of show.
func (c *Cluster) List(ctx context.Context, most int, show func([]cluster.TaskStatus) error) error {
	errs, err := c.listAll(ctx, most, show)
	if err != nil {
		return err
	}
	held, err := c.Held(ctx, cluster.TaskQuery{Answering: c.answering(errs)}, most)
	if len(held) > 0 {
		if err := show(held); err != nil {
			return err
		}
	}
	return errors.Join(errors.Join(errs...), err)
}

// listAll shows what the schedulers hold, and returns their errors in their order, and that of show.
func (c *Cluster) listAll(ctx context.Context, most int, show func([]cluster.TaskStatus) error) ([]error, error) {
	ctx, stop := context.WithCancel(ctx)
	errs := make([]error, len(c.Schedulers))
	lists := make([]chan []cluster.TaskStatus, len(c.Schedulers))
	for i := range lists {
		lists[i] = make(chan []cluster.TaskStatus)
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	defer stop()
	calls.Go(func() {
		turns := make(chan struct{}, askedAtOnce) // in the order of the lists: whoever waits to be read never keeps an earlier one waiting
		for i := range lists {
			turns <- struct{}{}
			calls.Go(func() {
				defer func() { <-turns }()
				defer close(lists[i])
				if err := listOf(ctx, &c.Schedulers[i], most, lists[i]); err != nil {
					errs[i] = fmt.Errorf("scheduler %s: %w", c.Schedulers[i].Name, err)
				}
			})
		}
	})
	for _, list := range lists {
		for tasks := range list {
			c.locate(ctx, tasks)
			if err := show(tasks); err != nil {
				return nil, err
			}
		}
	}
	return append(errs, c.absent()...), nil
}

// listOf hands over what one scheduler holds, page by page. What ends while it is listed comes once.
func listOf(ctx context.Context, s *session.Target, most int, to chan<- []cluster.TaskStatus) error {
	open := map[string]bool{} // that were handed over
	for q := (cluster.TaskQuery{}); most > 0; {
		q.Max = min(most, listPage)
		list, err := s.Service.Tasks(ctx, q)
		if err != nil || len(list) == 0 || list[len(list)-1].ID == q.After {
			return err
		}
		last := list[len(list)-1]
		q.After, q.Ended = last.ID, last.Phase == cluster.Ended
		fresh := list[:0]
		for _, t := range list {
			if !open[t.ID] {
				open[t.ID] = t.Phase != cluster.Ended
				fresh = append(fresh, t)
			}
		}
		most -= len(fresh)
		select {
		case to <- fresh:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// locate has the workers say where the tasks stand that schedulers placed there. Of those that do not answer it stays as it is.
func (c *Cluster) locate(ctx context.Context, tasks []cluster.TaskStatus) {
	at := map[string][]int{} // by worker
	for i := range tasks {
		if t := &tasks[i]; t.Phase == cluster.Accepted && t.Node != "" {
			at[t.Node] = append(at[t.Node], i)
		}
	}
	turns := make(chan struct{}, askedAtOnce)
	var calls sync.WaitGroup
	for name, which := range at {
		turns <- struct{}{}
		calls.Go(func() {
			defer func() { <-turns }()
			w, err := c.worker(ctx, name)
			if err != nil {
				return
			}
			for _, part := range parts(which) {
				locateAt(ctx, w, tasks, part)
			}
		})
	}
	calls.Wait()
}

// idsAtOnce is how many tasks a worker is asked for by their ids at a time: what has ended comes with its record.
const idsAtOnce = 500

func parts(which []int) (parts [][]int) {
	for len(which) > idsAtOnce {
		parts, which = append(parts, which[:idsAtOnce]), which[idsAtOnce:]
	}
	return append(parts, which)
}

// locateAt asks one worker for some of the tasks. An answer that is full stops before the last one, and then the others are asked for.
func locateAt(ctx context.Context, w Worker, tasks []cluster.TaskStatus, which []int) {
	for len(which) > 0 {
		byID := make(map[string]int, len(which))
		q := cluster.TaskQuery{Max: len(which)}
		for k, i := range which {
			byID[tasks[i].ID] = k
			q.IDs = append(q.IDs, tasks[i].ID)
		}
		found, err := w.Tasks(ctx, q)
		if err != nil || len(found) == 0 {
			return
		}
		last := -1
		for i := range found {
			k, asked := byID[found[i].ID]
			if !asked {
				return // a worker that knows no ids tells all that it holds
			}
			last = max(last, k)
			if t := &tasks[which[k]]; found[i].Phase != cluster.Ended {
				t.Phase, t.Ahead, t.Attempt = found[i].Phase, found[i].Ahead, max(t.Attempt, found[i].Attempt)
			}
		}
		which = which[last+1:]
	}
}

// Look tells of one task whoever knows it: schedulers, with what its worker says of where it stands, and, where one does not answer
// or none knows it, workers.
func (c *Cluster) Look(ctx context.Context, id string) ([]cluster.TaskStatus, error) {
	lists := make([][]cluster.TaskStatus, len(c.Schedulers))
	errs := c.every(func(i int, s *session.Target) (err error) {
		lists[i], err = s.Service.Tasks(ctx, cluster.TaskQuery{ID: id})
		return err
	})
	var all []cluster.TaskStatus
	for _, list := range lists {
		all = append(all, list...)
	}
	c.locate(ctx, all)
	err := errors.Join(errs...)
	if err == nil && len(all) > 0 {
		return all, nil
	}
	held, atWorkers := c.Held(ctx, cluster.TaskQuery{ID: id}, allTasks)
	for _, t := range held {
		told := false
		for i := range all {
			told = told || all[i].Node == t.Node && all[i].Phase != cluster.Ended
		}
		if !told {
			all = append(all, t)
		}
	}
	return all, errors.Join(err, atWorkers)
}
