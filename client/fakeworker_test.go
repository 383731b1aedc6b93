package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// fakeWorker has outputs by task, standard output and standard error.
type fakeWorker struct {
	rpc.Worker
	outputs map[string][2]string
	tasks   []cluster.TaskStatus
	lost    map[string]int // bytes of standard output that were not kept
	refuses string
	away    bool

	mu        sync.Mutex
	largest   int // range that was asked for
	asked     int
	forgotten string
}

func (f *fakeWorker) Close() error { return nil }

func (f *fakeWorker) Refuses(context.Context, cluster.Template) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.away {
		return "", errors.New("nobody there")
	}
	return f.refuses, nil
}

func (f *fakeWorker) ForgetJob(_ context.Context, job string) error {
	f.forgotten = job
	return nil
}

// Tasks tells all of its tasks that are asked for on one page.
func (f *fakeWorker) Tasks(_ context.Context, q cluster.TaskQuery) (found []cluster.TaskStatus, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return nil, errors.New("nobody there")
	}
	for _, s := range f.tasks {
		if (q.ID == "" || q.ID == s.ID) && (q.Job == "" || q.Job == s.Job) && q.After == "" && !slices.Contains(q.Answering, s.Scheduler) {
			found = append(found, s)
		}
	}
	return found, nil
}

// Cancel ends a task at once.
func (f *fakeWorker) Cancel(_ context.Context, id, _ string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.tasks {
		if s := &f.tasks[i]; s.ID == id && s.Phase != cluster.Ended {
			s.Phase, s.Record = cluster.Ended, &cluster.TaskRecord{ID: id, Outcome: cluster.Cancelled}
			return true, nil
		}
	}
	return false, nil
}

func (f *fakeWorker) Output(_ context.Context, r cluster.OutputRequest) (c cluster.OutputChunk, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	f.largest = max(f.largest, r.Max)
	both, known := f.outputs[r.TaskID]
	switch {
	case f.away:
		return c, errors.New("nobody there")
	case !known:
		return c, cluster.Errorf(cluster.UnknownTask, "no output of %s", r.TaskID)
	}
	text := both[0]
	if r.Errors {
		text = both[1]
	}
	c = cluster.OutputChunk{Printed: int64(len(text)), Kept: int64(len(text)), Ended: true, Attempt: 1}
	if n := f.lost[r.TaskID]; n > 0 && !r.Errors {
		c.Printed, c.Loss = c.Printed+int64(n), "the disk was full"
	}
	from := min(int(r.Offset), len(text))
	c.Data = []byte(text[from:min(len(text), from+r.Max)])
	return c, nil
}

// with adds workers, of the names w, w2, w3 ...
func (c *Cluster) with(workers ...*fakeWorker) *Cluster {
	var nodes []cluster.NodeStatus
	for i := range workers {
		name := "w"
		if i > 0 {
			name = fmt.Sprintf("w%d", i+1)
		}
		nodes = append(nodes, cluster.NodeStatus{Node: cluster.Node{Name: name, Address: fmt.Sprint(i)}})
	}
	c.Nodes = func(context.Context) ([]cluster.NodeStatus, error) { return nodes, nil }
	c.Connect = func(_, address string) Worker {
		var i int
		fmt.Sscan(address, &i)
		return workers[i]
	}
	return c
}
