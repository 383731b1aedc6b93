package client

import (
	"context"
	"fmt"
	"sync"

	"dodoor/internal/cluster"
	"dodoor/job"
)

const (
	asked     = 64 // workers, at most, that are asked whether they would run a command
	askedOnce = 8  // of them at a time
	programs  = 64 // of a plan, at most, that are asked about
)

// Permitted fails when no worker would run what a plan's tasks are: one that would is enough. Workers that do not answer
// say nothing: the tasks may wait for them.
func (c *Cluster) Permitted(ctx context.Context, p job.Plan) error {
	nodes, err := c.Nodes(ctx)
	if err != nil {
		return err
	}
	c.note(nodes)
	type program struct{ name, image, workdir string }
	seen := map[program]bool{}
	last := (*cluster.Template)(nil)
	for i := int64(0); i < p.Len() && len(seen) < programs; i++ {
		t := p.At(i).Template
		if t == last {
			break // all tasks have the same one
		}
		last = t
		key := program{image: t.Image, workdir: t.Workdir}
		if len(t.Argv) > 0 && len(t.Script) == 0 {
			key.name = t.Argv[0]
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		if err := c.permitted(ctx, nodes, t); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) permitted(ctx context.Context, nodes []cluster.NodeStatus, t *cluster.Template) error {
	if len(nodes) > asked {
		nodes = nodes[:asked]
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	var mu sync.Mutex
	var calls sync.WaitGroup
	refusals, reason, taken := 0, "", false
	turns := make(chan struct{}, askedOnce)
	for i := range nodes {
		calls.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			if ctx.Err() != nil {
				return
			}
			refused, err := c.dial(nodes[i].Node.Name, nodes[i].Node.Address).Refuses(ctx, *t)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
			case refused == "":
				taken = true
				enough()
			default:
				refusals++
				reason = fmt.Sprintf("%s (worker %s)", refused, nodes[i].Node.Name)
			}
		})
	}
	calls.Wait()
	if taken || refusals == 0 || refusals < len(nodes) {
		return nil
	}
	if refusals == 1 {
		return fmt.Errorf("the worker does not run this: %s", reason)
	}
	return fmt.Errorf("none of %d workers runs this: %s", refusals, reason)
}
