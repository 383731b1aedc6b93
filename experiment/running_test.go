package experiment

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator/rundir"
	"dodoor/internal/rpc/rpctest"
)

const inventory = `
[scheduler]
policy = "dodoor+"
b_delta = 2
[datastore]
b = 3
[generator]
trace = "functionbench"
n = 60
warmup = 5
qps = 2.0
[http]
listen = ""
[[class]]
name = "m510"
cores = 8
memory_mb = 65536
[[host]]
name = "a"
address = "10.0.0.1"
roles = ["datastore", "scheduler", "worker"]
class = "m510"
[[host]]
name = "b"
address = "10.0.0.2"
roles = ["scheduler", "worker"]
class = "m510"
`

func inventoryOf(t *testing.T, sets ...string) *conf.Config {
	t.Helper()
	path := write(t, "lab.toml", "include = [\"functionbench\"]\n"+inventory)
	c, err := conf.Load(path, sets)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lab is the services of an inventory in memory; one left out does not run, and one that runs another configuration has it
// under its name. stop ends those that it names, or everything.
func lab(t *testing.T, c *conf.Config, network *rpctest.Network, others map[string]*conf.Config) (stop func(names ...string)) {
	ends := map[string]func(){}
	for _, s := range c.Services() {
		own := c
		if other, found := others[s.Name]; found {
			own = other
		}
		if own == nil {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		ends[s.Name] = func() { cancel(); running.Wait() }
		running.Go(func() {
			site := assemble.Site{Log: setting(t, c, OnCluster).Log, Network: network, Service: s.Name}
			if _, err := assemble.Serve(ctx, own, s.Role, site); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		})
	}
	return func(names ...string) {
		for _, name := range names {
			ends[name]()
			delete(ends, name)
		}
		if len(names) > 0 {
			return
		}
		var all sync.WaitGroup
		for _, end := range ends {
			all.Go(end)
		}
		all.Wait()
		network.Wait()
	}
}

// A comparison has the schedulers of a cluster that runs take one policy after the other, and leaves the cluster as it was.
func TestCompareOnACluster(t *testing.T) {
	c := inventoryOf(t)
	base := setting(t, c, OnCluster)
	base.Started = c
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		base.Network = network
		stop := lab(t, c, network, nil)
		defer stop()
		<-time.After(time.Second) // until all have registered
		grid, err := NewGrid(base, []string{"dodoor", "pot"}, []float64{2}, []uint64{7, 8})
		if err != nil {
			t.Fatal(err)
		}
		var told strings.Builder
		if err := grid.Run(t.Context(), &told); err != nil {
			t.Fatal(err)
		}
		runs, err := grid.Summaries()
		if err != nil || len(runs) != 4 || grid.Left() != 0 {
			t.Fatalf("%d runs, %v\n%s", len(runs), err, told.String())
		}
		for _, r := range runs {
			if r.Completed != 60 || (r.Messages.Probe > 0) != (r.Policy == "pot") {
				t.Errorf("%s: %d of %d completed, messages %+v", r.Policy, r.Completed, r.Tasks, r.Messages)
			}
		}
		for _, cell := range grid.cells {
			info, err := rundir.Read(cell.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(info.Services) != 5 || info.Services[0].Batch != 3 {
				t.Fatalf("%s: services %+v", cell.Dir, info.Services)
			}
			for _, s := range info.Services {
				if strings.HasPrefix(s.Name, "scheduler") && (s.Policy != cell.Conf.Scheduler.Policy || s.Seed != cell.Conf.Seed || s.Batch != 2) {
					t.Errorf("%s: %+v", filepath.Base(cell.Dir), s)
				}
			}
		}
		if err := base.Restore(t.Context()); err != nil {
			t.Fatal(err)
		}
		l, err := newLineup(c, c.Scheduler.Policy, c.Seed, network)
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		if _, err := l.verify(t.Context(), nil); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A run in which a service started anew does not count, though every task finished. What was switched gets its own policy back
// though a worker is away.
func TestARestartDoesNotCount(t *testing.T) {
	c := inventoryOf(t)
	s := setting(t, c.Under("pot", 3), OnCluster)
	s.Started = c
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		s.Network = network
		stop := lab(t, c, network, nil)
		defer stop()
		<-time.After(time.Second)
		ended := make(chan error, 1)
		go func() {
			r, err := Run(t.Context(), s)
			if r.Summary != nil {
				t.Errorf("a summary of %d tasks", r.Summary.Completed)
			}
			ended <- err
		}()
		<-time.After(5 * time.Second)
		stop("b")
		again := lab(t, c, network, map[string]*conf.Config{"datastore-a": nil, "scheduler-a": nil, "a": nil, "scheduler-b": nil})
		defer again()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "b started anew while tasks were replayed") {
			t.Errorf("got %v", err)
		}
		if info, err := rundir.Read(s.Dir); err != nil || info.Ended != nil {
			t.Errorf("the run ended at %v, %v", info.Ended, err)
		}
		again("b")
		<-time.After(time.Second)
		if err := s.Restore(t.Context()); err != nil {
			t.Error(err)
		}
		l, err := newLineup(c, c.Scheduler.Policy, c.Seed, network)
		if err != nil {
			t.Fatal(err)
		}
		defer l.close()
		for _, target := range l.schedulers {
			if setup, err := target.Service.Setup(t.Context()); err != nil || setup.Policy != c.Scheduler.Policy || setup.Seed != c.Seed {
				t.Errorf("%s runs %+v, %v", target.Name, setup, err)
			}
		}
	})
}

// A cluster that is not what the configuration says is no cluster to compare on.
func TestWhatIsNotCompared(t *testing.T) {
	c := inventoryOf(t)
	for _, bad := range []struct {
		name   string
		others map[string]*conf.Config
		says   string
	}{
		{"a worker is away", map[string]*conf.Config{"b": nil}, "b at 10.0.0.2:20501"},
		{"a scheduler is away", map[string]*conf.Config{"scheduler-b": nil}, "scheduler-b at 10.0.0.2:20503"},
		{"other batches", map[string]*conf.Config{"datastore-a": inventoryOf(t, "datastore.b=4")},
			`datastore-a runs policy "" with seed 0 and batches of 4, and should run "" with 0 and 3`},
		{"another worker", map[string]*conf.Config{"b": inventoryOf(t, "worker.slots=3")}, "b runs as \"b\" with configuration"},
		{"another scheduler", map[string]*conf.Config{"scheduler-b": inventoryOf(t, "score.alpha=0.25")}, "scheduler-b runs as"},
	} {
		t.Run(bad.name, func(t *testing.T) {
			s := setting(t, c.Under("pot", 3), OnCluster)
			s.Started = c
			synctest.Test(t, func(t *testing.T) {
				network := rpctest.NewNetwork()
				s.Network = network
				stop := lab(t, c, network, bad.others)
				defer stop()
				<-time.After(time.Second)
				r, err := Run(t.Context(), s)
				if err == nil || !strings.Contains(err.Error(), bad.says) || r.Summary != nil {
					t.Errorf("got %v, want %s", err, bad.says)
				}
			})
		})
	}
	local := setting(t, configOf(t, "local"), OnCluster)
	local.Started = local.Conf
	if _, err := Run(t.Context(), local); !Refused(err) || !strings.Contains(err.Error(), "no [[host]] table") {
		t.Errorf("without an inventory: %v", err)
	}
}
