package drive

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/report/results"
)

// registry is a data service that lists schedulers, and a network to dial them.
type registry struct {
	rpc.DataService
	mu     sync.Mutex
	listed []cluster.SchedulerRef
	away   bool
	at     map[string]*fakeScheduler
	open   map[string]int // connections by address
	dials  map[string]int
}

func (r *registry) Counters(context.Context) (map[string]int64, error) {
	return map[string]int64{}, nil
}

func (r *registry) Status(context.Context) (cluster.ClusterStatus, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.away {
		return cluster.ClusterStatus{}, errGone
	}
	return cluster.ClusterStatus{Schedulers: r.listed}, nil
}

// list registers schedulers, each at an address that is called as it is, and nobody else.
func (r *registry) list(all ...*fakeScheduler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = nil
	for _, f := range all {
		r.listed = append(r.listed, cluster.SchedulerRef{Name: f.name, Address: "at " + f.name, Incarnation: 1})
	}
}

func (r *registry) connect(ref cluster.SchedulerRef) Target {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[ref.Address]++
	r.dials[ref.Address]++
	return Target{Name: ref.Name, Address: ref.Address, Service: r.at[ref.Address], Close: func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.open[ref.Address]--
		return nil
	}}
}

// following is a run on all of the schedulers, the first so many of which are registered when it begins.
func following(t *testing.T, n int, gap time.Duration, schedulers []*fakeScheduler, first int) (Config, *registry) {
	r := &registry{at: map[string]*fakeScheduler{}, open: map[string]int{}, dials: map[string]int{}}
	for _, f := range schedulers {
		r.at["at "+f.name] = f
	}
	r.list(schedulers[:first]...)
	c := config(t, workload(t, n, gap), nil)
	c.Data, c.Connect = r, r.connect
	for _, ref := range r.listed {
		c.Schedulers = append(c.Schedulers, r.connect(ref))
	}
	return c, r
}

// once checks that every task finished, and was held by one scheduler.
func once(t *testing.T, result Result, schedulers []*fakeScheduler) {
	t.Helper()
	if !result.Clean() {
		t.Errorf("got %+v", result)
	}
	times := map[string]int{}
	for _, f := range schedulers {
		for id, n := range f.held {
			times[id] += n
		}
	}
	for id, n := range times {
		if n != 1 {
			t.Errorf("task %s was accepted %d times", id, n)
		}
	}
}

// A scheduler that joins gets its share from then on. What it did for others before is not counted.
func TestASchedulerJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		schedulers[1].counters["in.submit"] = 1_000_000
		c, r := following(t, 1000, 10*time.Millisecond, schedulers, 1)
		after(t, 4500*time.Millisecond, func() { r.list(schedulers...) })
		result := replay(t, t.Context(), c)
		once(t, result, schedulers)
		for id, row := range rows(t, c, result) {
			if row.Scheduler == "b" && row.Scheduled < 5*time.Second || row.Attempts != 1 {
				t.Errorf("task %s: %+v", id, row)
			}
		}
		if n := len(schedulers[1].held); n != 250 {
			t.Errorf("the one that joined after half of the time had %d of 1000 tasks", n)
		}
		if s, err := results.Summarise(c.Dir); err != nil || s.Messages.Submit != 1000 {
			t.Errorf("got %+v, %v", s.Messages, err)
		}
	})
}

// A scheduler that leaves drains: it gets nothing more, what it has comes from there, and then the connection is closed.
func TestASchedulerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		b := schedulers[1]
		b.runTime = 15 * time.Second
		c, r := following(t, 2500, 10*time.Millisecond, schedulers, 2)
		after(t, 4*time.Second, func() {
			b.set(func() {
				b.fail = func(cluster.SubmitRequest) error { return cluster.Errorf(cluster.Draining, "shutting down") }
			})
			r.list(schedulers[0])
		})
		after(t, 22*time.Second, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.open["at b"] != 0 {
				t.Error("who left and owes nothing is still connected")
			}
		})
		result := replay(t, t.Context(), c)
		once(t, result, schedulers)
		if n := len(b.held); n != 200 || b.unread() > 0 {
			t.Errorf("it had %d tasks in its 4 seconds, and keeps %d results", n, b.unread())
		}
		if asked := b.counters["in.submit"]; asked > 220 {
			t.Errorf("it was asked %d times", asked)
		}
		rows(t, c, result)
		if s, err := results.Summarise(c.Dir); err != nil || !slices.Equal(s.CountersMissing, []string{"b"}) {
			t.Errorf("not counted: %v, %v", s.CountersMissing, err)
		}
	})
}

// A scheduler that is registered at another address is dialled there at once. What the process at the old one has comes
// from there, and its messages are missing, not the new one's.
func TestASchedulerMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b", "b2")
		schedulers[1].runTime = 3 * time.Second
		c, r := following(t, 1000, 10*time.Millisecond, schedulers, 2)
		after(t, 4500*time.Millisecond, func() {
			r.list(schedulers[0], schedulers[2])
			r.mu.Lock()
			defer r.mu.Unlock()
			r.listed[1].Name, r.listed[1].Incarnation = "b", 2
		})
		result := replay(t, t.Context(), c)
		once(t, result, schedulers)
		rows(t, c, result)
		if n := []int{len(schedulers[0].held), len(schedulers[1].held), len(schedulers[2].held)}; !slices.Equal(n, []int{500, 250, 250}) {
			t.Errorf("tasks of each: %v", n)
		}
		if s, err := results.Summarise(c.Dir); err != nil || s.Messages.Submit != 750 || !slices.Equal(s.CountersMissing, []string{"b"}) {
			t.Errorf("%d messages, not those of %v, %v", s.Messages.Submit, s.CountersMissing, err)
		}
	})
}

// A data service that does not answer, or knows nobody, changes nothing.
func TestDataServiceRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		c, r := following(t, 6000, 10*time.Millisecond, schedulers, 2)
		after(t, 5*time.Second, func() { r.mu.Lock(); r.away = true; r.mu.Unlock() })
		after(t, 20*time.Second, func() { r.list(); r.mu.Lock(); r.away = false; r.mu.Unlock() })
		after(t, 35*time.Second, func() { r.list(schedulers[1]) })
		after(t, 40*time.Second, func() { r.list(schedulers...) })
		result := replay(t, t.Context(), c)
		once(t, result, schedulers)
		if n := len(schedulers[0].held); n != 3000 || r.dials["at a"] != 1 || r.dials["at b"] != 1 {
			t.Errorf("a had %d of 6000 tasks; dialled %v", n, r.dials)
		}
		rows(t, c, result)
	})
}

// Whoever joins, leaves, dies or comes back meanwhile: every task has one row, and finishes. Who came back after it had
// been dropped is dialled again.
func TestComingsAndGoings(t *testing.T) {
	again := 0
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 9))
			schedulers := fakes(t, "a", "b", "c", "d")
			c, r := following(t, 3000, 20*time.Millisecond, schedulers, 2)
			c.Connections = 1 + rng.IntN(3)
			ctx := t.Context()
			go func() {
				for ctx.Err() == nil {
					pass(ctx, time.Duration(rng.IntN(14000))*time.Millisecond)
					present := []*fakeScheduler{schedulers[0]} // the first one always lives
					for _, f := range schedulers[1:] {
						switch rng.IntN(4) {
						case 0:
							f.kill()
						case 1:
							f.restart()
							fallthrough
						default:
							present = append(present, f)
						}
					}
					r.list(present...)
				}
			}()
			result := replay(t, t.Context(), c)
			rows(t, c, result)
			if !result.Clean() {
				t.Errorf("seed %d: %+v", seed, result)
			}
			for address, n := range r.dials {
				if again += n - 1; r.open[address] < 0 || r.open[address] > 1 {
					t.Errorf("seed %d: %d connections to %s", seed, r.open[address], address)
				}
			}
		})
	}
	if again == 0 {
		t.Error("nobody was dialled again")
	}
}
