package sim_test

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/internal/runfiles"
	"dodoor/sim"
)

// outcome is what became of a workload.
type outcome struct {
	Rows     map[string]generator.Row
	Counters map[string]map[string]int64 // requests during the run, by scheduler; those of processes that died included
}

// runRealUnderFaults replays cfg.Workload on the production services with the production client, while
// cfg.Faults happen.
func runRealUnderFaults(t *testing.T, cfg sim.Config) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := startReal(t, cfg)
		var targets []drive.Target
		for i, client := range c.clients {
			targets = append(targets, drive.Target{Name: schedulerName(i), Service: client})
		}
		dir := filepath.Join(t.TempDir(), "run")
		driver, err := drive.New(drive.Config{Workload: cfg.Workload, Schedulers: targets, Client: generatorName, Dir: dir,
			Connections: plenty, Patience: cfg.Patience, Timeout: time.Minute, Log: c.log})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			c.happen(ctx)
		}()
		if _, err := driver.Run(t.Context()); err != nil {
			t.Error(err)
		}
		stop()
		<-over
		c.moments.troubles.calm()
		o = outcome{readRows(t, dir), map[string]map[string]int64{}}
		after := c.counted()
		for i := range cfg.Schedulers {
			name := schedulerName(i)
			counts := map[string]int64{}
			for kind, n := range after[addressOf(name)] {
				counts[kind] = n - c.before[addressOf(name)][kind] - c.moments.troubles.bounced[[2]string{addressOf(name), kind}]
			}
			o.Counters[name] = counts
		}
	})
	return o
}

func readRows(t *testing.T, dir string) map[string]generator.Row {
	t.Helper()
	file, err := os.Open(filepath.Join(dir, runfiles.Tasks))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, reader := map[string]generator.Row{}, generator.NewRowReader(file)
	for {
		var row generator.Row
		if err := reader.Read(&row); err == io.EOF {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows[row.TaskID] = row
	}
}

// counted is what the processes at every address have counted so far, those that died included.
func (c *realCluster) counted() map[string]map[string]int64 {
	all := map[string]map[string]int64{}
	for address, p := range c.processes {
		all[address] = map[string]int64{}
		if !p.killed {
			all[address] = c.ask(p.Counters)
		}
		for kind, n := range c.past[address] {
			all[address][kind] += n
		}
	}
	return all
}

// event is the beginning or the end of a fault.
type event struct {
	at    time.Duration
	fault *sim.Fault
	ends  bool
}

// happen lets the faults happen, each in a turn of its own.
func (c *realCluster) happen(ctx context.Context) {
	var events []event
	for i := range c.cfg.Faults {
		f := &c.cfg.Faults[i]
		events = append(events, event{f.At, f, false})
		if f.Until > 0 {
			events = append(events, event{f.Until, f, true})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	start := time.Now()
	for _, e := range events {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(start.Add(e.at))):
		}
		c.moments.turns.Take(moment{})
		for _, address := range c.concerned(e.fault) {
			c.change(address, e)
		}
	}
}

// change begins or ends a fault of what is at an address.
func (c *realCluster) change(address string, e event) {
	switch {
	case e.fault.How == sim.Dies && e.ends:
		if c.outages[address]--; c.outages[address] == 0 {
			c.processes[address].launch(address)
		}
	case e.fault.How == sim.Dies:
		if c.outages[address]++; c.outages[address] == 1 {
			c.kill(address)
		}
	case e.ends:
		c.moments.troubles.change(address, e.fault, -1)
	default:
		c.moments.troubles.change(address, e.fault, 1)
		if e.fault.How == sim.Refuses {
			c.processes[address].host.Cut()
		}
	}
}

// concerned returns the addresses of what a fault is about.
func (c *realCluster) concerned(f *sim.Fault) (addresses []string) {
	switch f.What {
	case "datastore":
		return []string{dataAddress}
	case "class":
		for i := range c.cfg.Nodes {
			if n := &c.cfg.Nodes[i]; n.Class == f.Name {
				addresses = append(addresses, addressOf(n.Name))
			}
		}
		return addresses
	}
	return []string{addressOf(f.Name)}
}

// kill ends a process without notice.
func (c *realCluster) kill(address string) {
	p := c.processes[address]
	counts := c.ask(p.Counters)
	for kind, n := range c.past[address] {
		counts[kind] += n
	}
	c.past[address] = counts
	p.killed = true
	p.host.Kill()
	p.end()
}
