package chaos

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
	"dodoor/sim"
)

// moments are how long things go wrong: hardly, and until everybody has noticed.
var moments = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 6 * time.Second}

// fault draws what goes wrong: one thing, or one after the other.
func (d dice) fault(s *Scenario) []sim.Fault {
	at := d.between(0, s.Shape.Span*3/4)
	until := min(at+d.between(time.Millisecond, pick(d, moments)), s.Shape.Span)
	switch n := d.IntN(40); {
	case n < 10:
		return []sim.Fault{d.cut(s, at, until)}
	case n == 10:
		return upgrade(s, at, s.Shape.Span)
	}
	f := sim.Fault{What: pick(d, []string{sim.FaultWorker, sim.FaultWorker, sim.FaultScheduler, sim.FaultScheduler, sim.FaultDatastore}),
		At: at, Until: until}
	ways := []string{sim.Dies, sim.Dies, sim.Stalls, sim.Refuses, sim.Deaf, sim.Mute, sim.Slow, sim.Restarts, sim.Clock}
	switch f.What {
	case sim.FaultWorker:
		f.Name = pick(d, s.Workers).Name
	case sim.FaultScheduler:
		f.Name = cluster.SchedulerName(d.IntN(s.Schedulers))
		if s.Shape.Journal {
			ways = append(ways, sim.Full)
		}
	}
	switch f.How = pick(d, ways); f.How {
	case sim.Slow:
		f.Delay = d.between(time.Millisecond, 300*time.Millisecond)
	case sim.Clock:
		f.Step = pick(d, []time.Duration{-time.Hour, -5 * time.Second, 5 * time.Second, time.Hour})
	}
	return []sim.Fault{f}
}

// cut draws a fault of the network: some services on one side, all others on the other.
func (d dice) cut(s *Scenario, at, until time.Duration) sim.Fault {
	f := sim.Fault{What: sim.FaultNetwork, How: pick(d, []string{sim.Parts, sim.Parts, sim.Drops, sim.Duplicates}), At: at, Until: until}
	names := s.Names()
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	n := pick(d, []int{1, 1, 2, len(names) / 2})
	f.Between, f.And = names[:n], names[n:]
	if d.share(30) { // two services alone
		f.And = f.And[:1]
	}
	switch f.How {
	case sim.Parts:
		f.OneWay = d.share(40)
	default:
		f.Share = pick(d, []float64{0.05, 0.3, 1})
	}
	return f
}

// upgrade restarts every service in turn, the data service first.
func upgrade(s *Scenario, at, end time.Duration) []sim.Fault {
	what := slices.Concat([]sim.Fault{{What: sim.FaultDatastore}}, nil)
	for i := range s.Schedulers {
		what = append(what, sim.Fault{What: sim.FaultScheduler, Name: cluster.SchedulerName(i)})
	}
	for i := range s.Workers {
		what = append(what, sim.Fault{What: sim.FaultWorker, Name: s.Workers[i].Name})
	}
	each := (end - at) / time.Duration(len(what))
	for i := range what {
		f := &what[i]
		f.How, f.At, f.Until = sim.Upgrades, at+time.Duration(i)*each, at+time.Duration(i)*each+each/2
	}
	return what
}

// Names are those of all services, and sim.FaultClients.
func (s *Scenario) Names() []string {
	names := []string{sim.FaultClients, sim.FaultDatastore}
	for i := range s.Schedulers {
		names = append(names, cluster.SchedulerName(i))
	}
	for i := range s.Workers {
		names = append(names, s.Workers[i].Name)
	}
	return names
}
