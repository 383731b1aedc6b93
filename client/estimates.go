package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"dodoor/generator/session"
	"dodoor/internal/cluster"
)

// Estimates tells how long tasks are expected to run, by name and class in order: of each what the scheduler says that has
// seen most. What is known is returned along with the errors of those who do not answer.
func (c *Cluster) Estimates(ctx context.Context, q cluster.EstimateQuery) ([]cluster.Estimate, error) {
	lists := make([][]cluster.Estimate, len(c.Schedulers))
	errs := c.each(func(i int, s *session.Target) (err error) {
		lists[i], err = s.Service.Estimates(ctx, q)
		return err
	})
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b cluster.Estimate) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class), cmp.Compare(b.Count, a.Count))
	})
	all = slices.CompactFunc(all, func(a, b cluster.Estimate) bool { return a.Name == b.Name && a.Class == b.Class })
	return all[:min(len(all), q.Max)], errors.Join(errs...)
}
