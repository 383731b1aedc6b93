package experiment

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/conf"
	"dodoor/generator/rundir"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
	"dodoor/localcluster"
	"dodoor/report/reporttest"
)

// onACluster starts the services of a configuration, and does a run on them.
func onACluster(t *testing.T, ctx context.Context, s Setting, do func(ctx context.Context, s Setting) (Result, error)) (Result, error) {
	t.Helper()
	own := *s.Conf
	l, err := localcluster.Start(&own, s.Log, s.Network)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	if err := l.AwaitWorkers(ctx); err != nil {
		t.Fatal(err)
	}
	own.Datastore.Address = l.Address()
	s.Conf = &own
	return do(ctx, s)
}

// plug is a network on which the data service can be cut off from all that dial it.
type plug struct {
	*rpctest.Network
	data net.Listener
}

func (p *plug) Listen(addr string) (net.Listener, error) {
	l, err := p.Network.Listen(addr)
	if strings.HasPrefix(addr, "datastore") {
		p.data = l
	}
	return l, err
}

// hourLong is a run of two tasks of an hour each on one node. When the first is submitted, something happens.
func hourLong(t *testing.T, ctx context.Context, first func(p *plug), s Setting) (Setting, Result, error) {
	t.Helper()
	task := "0,1,10,0,3600000,0,sleep,short\n1,1,10,0,3600000,1,sleep,short\n"
	c := configOf(t, "single", `worker.executor="sleep"`, "generator.n=2", `worker.drain_timeout="20ms"`,
		"generator.qps=100", "generator.trace="+strconv.Quote(write(t, "t.csv", task)))
	if s.Hurry == nil {
		c.Scheduler.DrainTimeout = conf.Duration(1)
	}
	var once sync.Once
	p := &plug{Network: rpctest.NewNetwork()}
	p.Pass = func(m rpctest.Message) bool {
		if m.From == "generator" && m.Method == "submit" && m.Reply {
			once.Do(func() { first(p) })
		}
		return true
	}
	with := setting(t, c, OnLocal)
	with.Network, with.Hurry = p, s.Hurry
	r, err := Run(ctx, with)
	<-time.After(time.Minute) // in a hurry nobody waits for services that drain
	p.Wait()
	return with, r, err
}

// A service that fails while tasks run ends the run, with its error.
func TestServiceFailsDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, err := hourLong(t, t.Context(), func(p *plug) { p.data.Close() }, Setting{})
		if err == nil || Refused(err) || !strings.Contains(err.Error(), "as a service failed: rpc: datastore:1") {
			t.Errorf("got %v", err)
		}
	})
}

// A run that is stopped and then hurried ends, and every task has its row.
func TestHurryKeepsTheRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		hurry, hurryUp := context.WithCancel(context.Background())
		s, r, err := hourLong(t, ctx, func(*plug) { stop(); hurryUp() }, Setting{Hurry: hurry})
		if err == nil || !strings.Contains(err.Error(), "stopped: ") || !strings.Contains(err.Error(), "abandoned") {
			t.Errorf("got %v", err)
		}
		if rows := reporttest.Rows(t, s.Dir); len(rows) != 2 || r.Summary == nil || r.Summary.Completed != 0 {
			t.Errorf("%d rows of 2 tasks, summary %+v", len(rows), r.Summary)
		}
	})
}

// A simulation that is stopped keeps the rows of the tasks that have ended, and gives every other task one.
func TestStoppedSimulation(t *testing.T) {
	s := setting(t, configOf(t, "paper", "generator.trace=functionbench", "generator.n=20000", "generator.qps=50"), OnSim)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := Run(ctx, s)
	if err == nil || Refused(err) || !strings.Contains(err.Error(), "stopped: ") {
		t.Errorf("got %v", err)
	}
	if info, err := rundir.Read(s.Dir); err != nil || !info.Stopped || info.Ended == nil {
		t.Errorf("run.json says %+v, %v", info, err)
	}
	outcomes := map[cluster.Outcome]int{}
	for _, r := range reporttest.Rows(t, s.Dir) {
		outcomes[r.Outcome]++
	}
	finished, lost, cancelled := outcomes[cluster.Finished], outcomes[cluster.Lost], outcomes[cluster.Cancelled]
	if finished == 0 || lost == 0 || cancelled == 0 || finished+lost+cancelled != 20000 {
		t.Errorf("rows by outcome: %v", outcomes)
	}
	if r.Summary == nil || r.Summary.Completed != finished {
		t.Errorf("the summary says %+v", r.Summary)
	}
}
