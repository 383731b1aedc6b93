package main

import (
	"context"
	"fmt"
	"iter"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/generator/packing"
)

// published is the Azure packing trace that a command reads; nil where there is none.
type published struct {
	*packing.Trace
	stop context.CancelFunc
}

// azure makes a synthetic trace, or reads the published one.
func (f *traceFlags) azure(c *conf.Config) (iter.Seq[generator.Request], error) {
	if f.packing == "" {
		return generator.AzureSeq(f.n, f.seed)
	}
	room, err := c.SmallestNode()
	if err != nil {
		return nil, err
	}
	ctx, stop := interruptible(f.log)
	trace, err := packing.Open(ctx, f.packing, room, f.n)
	if err != nil {
		stop()
		return nil, err
	}
	f.published = &published{trace, stop}
	return trace.Requests(ctx), nil
}

// failed returns what cut the reading short.
func (p *published) failed() error {
	if p == nil || p.Err() == nil {
		return nil
	}
	return fmt.Errorf("reading the published trace: %w", p.Err())
}

// sayIfShort tells that the file has fewer requests than were asked for.
func (p *published) sayIfShort(f *traceFlags) {
	if p != nil && p.Count() < f.n {
		fmt.Fprintf(f.stderr, "%s: %d requests, not %d: %s has no more that last less than ten minutes and fit every node class\n",
			f.Name(), p.Count(), f.n, f.packing)
	}
}

func (p *published) close() {
	if p != nil {
		p.Close()
		p.stop()
	}
}
