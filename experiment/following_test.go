package experiment

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
	"dodoor/report/reporttest"
)

// launch starts a service of an inventory; stop ends it as SIGTERM does, and returns when it is gone.
func launch(t *testing.T, c *conf.Config, network *rpctest.Network, role, name string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		site := assemble.Site{Log: setting(t, c, OnCluster).Log, Network: network, Service: name}
		if _, err := assemble.Serve(ctx, c, role, site); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}()
	return func() { cancel(); <-gone }
}

// Schedulers come and go while a replay runs: a second one starts, the first one drains and stops, and starts again much
// later. Each gets tasks while it is there, what the first had taken comes from there, and every task runs once.
func TestReplayFollowsTheSchedulers(t *testing.T) {
	c := inventoryOf(t, "generator.n=200", "generator.warmup=0")
	s := setting(t, c, OnCluster)
	var joined, left, gone, back time.Time
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		s.Network = network
		launched := func(role, name string) func() { return launch(t, c, network, role, name) }
		others := []func(){launched(conf.RoleDatastore, "datastore-a"), launched(conf.RoleWorker, "a"), launched(conf.RoleWorker, "b")}
		first := launched(conf.RoleScheduler, "scheduler-a")
		<-time.After(time.Second) // until all have registered
		var second func()
		var changes sync.WaitGroup
		changes.Go(func() {
			<-time.After(20 * time.Second)
			joined, second = time.Now(), launched(conf.RoleScheduler, "scheduler-b")
			<-time.After(20 * time.Second)
			left = time.Now()
			first()
			gone = time.Now()
			<-time.After(20 * time.Second)
			back, first = time.Now(), launched(conf.RoleScheduler, "scheduler-a")
		})
		r, err := Run(t.Context(), s)
		if err != nil || r.Summary.Completed != 200 {
			t.Errorf("%v, %+v", err, r.Summary)
		}
		changes.Wait()
		for _, stop := range append([]func(){first, second}, others...) {
			stop()
		}
		network.Wait()
	})
	info, err := rundir.Read(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	followed(t, reporttest.Rows(t, s.Dir), joined.Sub(info.Started), left.Sub(info.Started), gone.Sub(info.Started), back.Sub(info.Started))
}

// followed checks who had which tasks.
func followed(t *testing.T, rows []generator.Row, joined, left, gone, back time.Duration) {
	t.Helper()
	const notice = 2 * time.Second // a change is known by then
	drained, shares := 0, map[string][2]int{}
	for _, row := range rows {
		first := row.Scheduler == "scheduler-a"
		at, share := row.Sent, shares[row.Scheduler]
		switch {
		case row.Attempts != 1:
			t.Errorf("task %s: %d attempts", row.TaskID, row.Attempts)
		case first && at > left && at < back, !first && at < joined:
			t.Errorf("task %s, submitted at %v, was with %s: that joined after %v, the first was away from %v to %v", row.TaskID, at,
				row.Scheduler, joined, left, back)
		case first && at <= left && row.Completed > left:
			if drained++; row.Completed > gone {
				t.Errorf("task %s completed at %v, and %s was gone at %v", row.TaskID, row.Completed, row.Scheduler, gone)
			}
		case at > joined+notice && at < left:
			share[0]++
		case at > back+notice:
			share[1]++
		}
		shares[row.Scheduler] = share
	}
	a, b := shares["scheduler-a"], shares["scheduler-b"]
	if drained == 0 || min(a[0], a[1], b[0], b[1]) < 5 {
		t.Errorf("%d tasks came while the first drained; shares %v before that and after its return", drained, shares)
	}
}

// Schedulers that the configuration chooses are these alone, and others do not join them; what follows from an inventory is
// no choice.
func TestChosenSchedulers(t *testing.T) {
	known := []cluster.SchedulerRef{{Name: "x", Address: "h:1", Incarnation: 3}}
	for _, c := range []*conf.Config{inventoryOf(t), configOf(t, "local", "generator.schedulers=[]")} {
		if got := chosen(c, known); got != nil {
			t.Errorf("%v follow from nothing but the hosts %v: chosen %v", c.Generator.Schedulers, len(c.Hosts), got)
		}
	}
	want := []cluster.SchedulerRef{{Name: "scheduler-1@h:2", Address: "h:2"}, known[0]}
	const choice = `generator.schedulers=["h:2", "h:1"]`
	for _, c := range []*conf.Config{inventoryOf(t, choice), configOf(t, "local", choice)} {
		if got := chosen(c, known); !slices.Equal(got, want) {
			t.Errorf("chosen %v, want %v", got, want)
		}
	}
}
