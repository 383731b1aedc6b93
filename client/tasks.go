package client

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/job"
)

// page is how many tasks of a job are asked for at a time, at most: a scheduler answers with as many as fit into a message.
const page = 8192

// Tasks are the tasks of a job in the order of their indices, from a first one on; those alone that ended otherwise than
// well, if that is asked. Of schedulers that are gone, those come that workers hold. The last thing that comes is an error,
// if there is one: of those who did not answer, whose tasks, or further tasks, may be missing.
func (c *Cluster) Tasks(ctx context.Context, id string, from int64, unsuccessful bool) iter.Seq2[cluster.JobTask, error] {
	return func(yield func(cluster.JobTask, error) bool) {
		streams := make([]*stream, len(c.Schedulers))
		for i := range c.Schedulers {
			streams[i] = &stream{from: &c.Schedulers[i],
				query: cluster.JobTaskQuery{Job: id, From: from, Max: page, Unsuccessful: unsuccessful}}
		}
		errs := c.absent()
		silent, after := make([]error, len(streams)), from
		for asked := -1; ; {
			var next *cluster.JobTask
			for i := 0; i < len(streams); i++ {
				s := streams[i]
				head, err := s.head(ctx)
				if err != nil {
					errs = append(errs, err)
					silent[i] = err
				}
				if last := i == len(streams)-1; last && len(errs) > asked { // at first, and when somebody does not answer any more
					held, err := c.orphans(ctx, id, after, unsuccessful, c.answering(silent))
					if err != nil && len(errs) > 0 {
						errs = append(errs, err)
					}
					asked = len(errs)
					streams = append(streams, &stream{tasks: held, last: true})
				}
				if head != nil && (next == nil || head.Index < next.Index || head.Index == next.Index && better(head, next)) {
					next = head
				}
			}
			if next == nil {
				if len(errs) > 0 {
					yield(cluster.JobTask{}, errors.Join(errs...))
				}
				return
			}
			task := *next
			after = task.Index + 1
			for _, s := range streams {
				s.skip(task.Index)
			}
			if !yield(task, nil) {
				return
			}
		}
	}
}

// better tells which of two accounts of a task counts, that two schedulers were given: the one that finished, then the one
// that goes on.
func better(a, b *cluster.JobTask) bool {
	return rank(a) > rank(b)
}

func rank(t *cluster.JobTask) int {
	switch t.Outcome {
	case cluster.Finished:
		return 2
	case cluster.NoOutcome:
		return 1
	}
	return 0
}

// stream is a scheduler's tasks of a job, page by page.
type stream struct {
	from  *session.Target
	query cluster.JobTaskQuery
	tasks []cluster.JobTask
	last  bool // there is no further page
}

// head is the first task that was not skipped; nil: there is none.
func (s *stream) head(ctx context.Context) (*cluster.JobTask, error) {
	if len(s.tasks) == 0 && !s.last {
		tasks, err := s.from.Service.JobTasks(ctx, s.query)
		if err != nil && cluster.CodeOf(err) != cluster.UnknownTask {
			s.last = true
			return nil, fmt.Errorf("scheduler %s: %w", s.from.Name, err)
		}
		s.tasks, s.last = tasks, len(tasks) == 0 // a page has as many as fit into a message
		if len(tasks) > 0 {
			s.query.From = tasks[len(tasks)-1].Index + 1
		}
	}
	if len(s.tasks) == 0 {
		return nil, nil
	}
	return &s.tasks[0], nil
}

// skip passes over a task, if it is the next one.
func (s *stream) skip(index int64) {
	if len(s.tasks) > 0 && s.tasks[0].Index == index {
		s.tasks = s.tasks[1:]
	}
}

// Task is one task of a job. One scheduler that has it is enough; where one does not answer, or none knows it, workers are
// asked.
func (c *Cluster) Task(ctx context.Context, id string, index int64) (cluster.JobTask, error) {
	tasks := make([][]cluster.JobTask, len(c.Schedulers))
	errs := c.every(func(i int, s *session.Target) (err error) {
		tasks[i], err = s.Service.JobTasks(ctx, cluster.JobTaskQuery{Job: id, From: index, Max: 1})
		if cluster.CodeOf(err) == cluster.UnknownTask {
			return nil
		}
		return err
	})
	var best *cluster.JobTask
	for i := range tasks {
		for k := range tasks[i] {
			if t := &tasks[i][k]; t.Index == index && (best == nil || better(t, best)) {
				best = t
			}
		}
	}
	if best == nil {
		held, err := c.Held(ctx, cluster.TaskQuery{ID: job.TaskID(id, index)}, allTasks)
		for i := range held {
			if t := orphan(&held[i]); held[i].Job == id && held[i].Index == index && (best == nil || better(&t, best)) {
				best = &t
			}
		}
		errs = append(errs, err)
	}
	if best != nil {
		return *best, nil
	}
	if err := errors.Join(errs...); err != nil {
		return cluster.JobTask{}, err
	}
	return cluster.JobTask{}, fmt.Errorf("task %d of job %s: %w", index, id, errUnknownTask)
}

// errUnknownTask says that nobody has anything of it.
var errUnknownTask = errors.New("no scheduler that is registered and no worker knows it (any more)")
