package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"dodoor/internal/cluster"
)

// knower is a scheduler that tells estimates.
type knower struct {
	*fakeScheduler
	list []cluster.Estimate
	err  error
}

func (k knower) Estimates(context.Context, cluster.EstimateQuery) ([]cluster.Estimate, error) {
	return k.list, k.err
}

// Of every name and class the scheduler is believed that has seen most; one that does not answer hides nothing of the others.
func TestEstimatesOfAllSchedulers(t *testing.T) {
	c := of(newScheduler("a"), newScheduler("b"), newScheduler("c"))
	estimate := func(name, class string, count int64) cluster.Estimate {
		return cluster.Estimate{Name: name, Class: class, Count: count}
	}
	away := errors.New("away")
	for i, k := range []knower{
		{list: []cluster.Estimate{estimate("k", "x", 3), estimate("l", "x", 9)}},
		{list: []cluster.Estimate{estimate("k", "x", 5), estimate("k", "y", 0)}},
		{err: away},
	} {
		c.Schedulers[i].Service = k
	}
	got, err := c.Estimates(t.Context(), cluster.EstimateQuery{Max: 10})
	want := []cluster.Estimate{estimate("k", "x", 5), estimate("k", "y", 0), estimate("l", "x", 9)}
	if !slices.Equal(got, want) || !errors.Is(err, away) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, _ := c.Estimates(t.Context(), cluster.EstimateQuery{Max: 2}); fmt.Sprint(got) != fmt.Sprint(want[:2]) {
		t.Errorf("at most two: %+v", got)
	}
}
