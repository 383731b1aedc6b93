package chaos

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"dodoor/baselines"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// Plan draws the scenario of a seed. The same seed and shape give the same scenario; one that leaves out ways in which things go
// wrong gives the same but for those.
func Plan(seed uint64, shape Shape) Scenario {
	d := dice{rand.New(rand.NewPCG(seed, 0x6368616f73))}
	s := Scenario{Seed: seed, Shape: shape, Policy: pick(d, baselines.Names()), Schedulers: d.from(2, 4), Quiet: shape.Quiet}
	small := d.from(2, 4)
	for i := range small {
		s.Workers = append(s.Workers, Worker{Name: cluster.WorkerName("small", i), Class: "small", Slots: 2, Cores: 2000, Memory: 2048})
	}
	for i := range d.from(1, 2) * d.from(0, 1) {
		s.Workers = append(s.Workers, Worker{Name: cluster.WorkerName("large", i), Class: "large", Slots: 4, Cores: 4000, Memory: 4096})
	}
	for len(s.Workers) < 3 {
		i := len(s.Workers)
		s.Workers = append(s.Workers, Worker{Name: cluster.WorkerName("small", i), Class: "small", Slots: 2, Cores: 2000, Memory: 2048})
	}
	for i := range d.from(2, 4) {
		s.Clients = append(s.Clients, Client{Name: fmt.Sprint("client-", i+1), Resubmits: i%2 == 0})
	}
	s.Tasks = d.tasks(&s)
	for range d.from(1, max(1, shape.Faults)) {
		s.Faults = append(s.Faults, d.fault(&s)...)
	}
	slices.SortStableFunc(s.Faults, func(a, b sim.Fault) int { return cmp.Compare(a.At, b.At) })
	dice{rand.New(rand.NewPCG(seed, 0x7769746864726177))}.withdrawals(&s)
	if len(shape.Hows) > 0 {
		s.Faults = slices.DeleteFunc(s.Faults, func(f sim.Fault) bool { return !slices.Contains(shape.Hows, f.How) })
	}
	return s
}

// dice draw.
type dice struct{ *rand.Rand }

// from draws a number from low to high.
func (d dice) from(low, high int) int { return low + d.IntN(high-low+1) }

// pick draws one of several.
func pick[T any](d dice, from []T) T { return from[d.IntN(len(from))] }

// share draws true in so many of a hundred cases.
func (d dice) share(percent int) bool { return d.IntN(100) < percent }

// between draws a time, in whole milliseconds.
func (d dice) between(low, high time.Duration) time.Duration {
	return low + time.Duration(d.Int64N(int64((high-low)/time.Millisecond)+1))*time.Millisecond
}

// tasks draws what is submitted: now one by one, now several at once. Every worker could run each of them.
func (d dice) tasks(s *Scenario) []Task {
	atMostOnce := pick(d, []int{0, 20, 100})
	gap := 2 * s.Shape.Span / time.Duration(s.Shape.Tasks+1)
	tasks := make([]Task, s.Shape.Tasks)
	at := time.Duration(0)
	for i := range tasks {
		if d.share(70) {
			at = min(at+d.between(0, gap*10/7), s.Shape.Span)
		}
		tasks[i] = Task{ID: fmt.Sprintf("%d-%d", s.Seed, i+1), Client: pick(d, s.Clients).Name, At: at,
			Takes: pick(d, []time.Duration{10, 50, 200, 200, 1000, 3000}) * time.Millisecond,
			Cores: pick(d, []int64{500, 1000, 1000, 2000}), Memory: pick(d, []int64{64, 256, 1024}), AtMostOnce: d.share(atMostOnce)}
		if d.share(5) {
			tasks[i].Exit = d.from(1, 3)
		}
	}
	return tasks
}

// withdrawals draws which tasks their clients want to end, and when: before anybody has them, while they wait, while they run, or when it
// is too late. Some clients do so, with a few of theirs.
func (d dice) withdrawals(s *Scenario) {
	for i := range s.Clients {
		if !d.share(50) {
			continue
		}
		for j := range s.Tasks {
			if t := &s.Tasks[j]; t.Client == s.Clients[i].Name && d.share(10) {
				t.Withdrawn = t.At + d.between(time.Millisecond, pick(d, moments))
			}
		}
	}
}
