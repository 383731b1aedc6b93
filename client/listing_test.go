package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// lister is a scheduler that holds open tasks, and takes its time to tell.
type lister struct {
	rpc.Scheduler
	takes time.Duration
	fails error
	tasks []cluster.TaskStatus // by id
}

func (l lister) Tasks(ctx context.Context, q cluster.TaskQuery) (page []cluster.TaskStatus, _ error) {
	if !pause(ctx, l.takes) || l.fails != nil {
		return nil, errors.Join(ctx.Err(), l.fails)
	}
	for _, t := range l.tasks {
		if t.ID > q.After && len(page) < q.Max {
			page = append(page, t)
		}
	}
	return page, nil
}

// listers are so many schedulers, each with so many tasks, that all take a while.
func listers(n, tasks int, takes time.Duration) (c *Cluster, want []string) {
	c = &Cluster{}
	for i := range n {
		l := lister{takes: takes}
		for k := range tasks {
			id := fmt.Sprintf("s%03d.%05d", i, k)
			want = append(want, id)
			l.tasks = append(l.tasks, cluster.TaskStatus{ID: id})
		}
		c.Schedulers = append(c.Schedulers, session.Target{Name: fmt.Sprint(i), Service: l})
	}
	return c, want
}

// Schedulers are asked together, and told of in their order; those that fail do not keep the others waiting.
func TestListAsksTogether(t *testing.T) {
	const n, takes = 20, 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		c, want := listers(n, 3, takes)
		fault := errors.New("no luck")
		for _, i := range []int{0, 7, 19} {
			c.Schedulers[i].Service = lister{takes: takes, fails: fault}
			want = slices.DeleteFunc(want, func(id string) bool { return id[:4] == fmt.Sprintf("s%03d", i) })
		}
		c.Absent = []Absent{{Name: "gone", Ago: time.Minute}}
		var got []string
		start := time.Now()
		err := c.List(t.Context(), 3, func(tasks []cluster.TaskStatus) error {
			for i := range tasks {
				got = append(got, tasks[i].ID)
			}
			return nil
		})
		says := "scheduler 0: no luck\nscheduler 7: no luck\nscheduler 19: no luck\n" +
			"gone was there 1m0s ago and is not now: what it holds alone is not shown"
		if err == nil || err.Error() != says || !slices.Equal(got, want) {
			t.Errorf("%v, %v", err, got)
		}
		if took := time.Since(start); took != takes {
			t.Errorf("it takes %v, want %v", took, takes)
		}
	})
}

// However many schedulers there are, all are told of, page by page; who has seen enough ends it, and nobody asks on.
func TestListOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, want := listers(3*askedAtOnce, 2, time.Second)
		long, pages := listers(1, 2*listPage+1, time.Second)
		c.Schedulers, want = append(c.Schedulers, long.Schedulers[0]), append(want, pages...)
		var got []string
		enough, largest := errors.New("enough"), 0
		see := func(most int) error {
			got = got[:0]
			return c.List(t.Context(), 10*listPage, func(tasks []cluster.TaskStatus) error {
				if len(got) >= most {
					return enough
				}
				largest = max(largest, len(tasks))
				for i := range tasks {
					got = append(got, tasks[i].ID)
				}
				return nil
			})
		}
		if err := see(len(want)); err != nil || !slices.Equal(got, want) || largest != listPage {
			t.Errorf("%v, %d tasks of %d, up to %d at a time", err, len(got), len(want), largest)
		}
		if err := see(5); err != enough || len(got) != 6 {
			t.Errorf("%v, %v", err, got)
		}
	})
}
