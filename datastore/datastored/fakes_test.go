package datastored

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// fakeScheduler notes the snapshots that it gets, and flushes deltas.
type fakeScheduler struct {
	rpc.Scheduler
	ref    cluster.SchedulerRef
	data   rpc.DataService
	stop   func() // answering; flushing goes on
	whole  cluster.Snapshot
	sum    cluster.Delta             // last flush
	placed map[string]cluster.Placed // by worker

	mu     sync.Mutex
	pushed []cluster.Snapshot
	at     []time.Time
	answer func(n int, s *cluster.Snapshot) error // to the n-th push since forget; nil: it is taken
}

// scheduler starts a scheduler in memory and registers it.
func (b *bench) scheduler(t *testing.T, name string) *fakeScheduler {
	t.Helper()
	s := &fakeScheduler{ref: cluster.SchedulerRef{Name: name, Address: name + ":1", Incarnation: 1}, data: b.client,
		placed: map[string]cluster.Placed{}}
	s.serve(t, b.net.listen(s.ref.Address))
	s.register(t)
	return s
}

// serve answers on a listener until stop, at the latest until the test ends.
func (s *fakeScheduler) serve(t *testing.T, listener net.Listener) {
	server := rpc.NewServer(listener, rpc.SchedulerService(s, dims), config(rpc.Config{}).RPC)
	served := make(chan error, 1)
	go func() { served <- server.Serve(context.Background()) }()
	s.stop = sync.OnceFunc(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Errorf("scheduler %s ended with %v", s.ref.Name, err)
		}
	})
	t.Cleanup(s.stop)
}

func (s *fakeScheduler) register(t *testing.T) {
	t.Helper()
	var err error
	if s.whole, err = s.data.RegisterScheduler(context.Background(), s.ref); err != nil {
		t.Fatal(err)
	}
	s.sum = cluster.Delta{Scheduler: s.ref.Name, Incarnation: s.ref.Incarnation}
}

func (s *fakeScheduler) Push(_ context.Context, snapshot cluster.Snapshot) error {
	s.mu.Lock()
	s.pushed, s.at = append(s.pushed, snapshot), append(s.at, time.Now())
	answer, n := s.answer, len(s.pushed)
	s.mu.Unlock()
	if answer == nil {
		return nil
	}
	return answer(n, &snapshot)
}

// forget forgets the pushes so far; from now on they are answered so.
func (s *fakeScheduler) forget(answer func(n int, s *cluster.Snapshot) error) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pushed, s.at, s.answer = nil, nil, answer
}

// snapshots returns the pushes so far, once everything is at rest.
func (s *fakeScheduler) snapshots() []cluster.Snapshot {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]cluster.Snapshot(nil), s.pushed...)
}

var one = cluster.LoadOf(cluster.Shape{Demand: cluster.Resources{1000, 100}, Duration: 1000})

// check asks whether the scheduler is still registered.
func (s *fakeScheduler) check(t *testing.T) {
	t.Helper()
	if err := s.data.CheckScheduler(t.Context(), s.ref.Name, s.ref.Incarnation); err != nil {
		t.Error(err)
	}
}

// place makes n decisions for each of the workers.
func (s *fakeScheduler) place(n int64, workers ...string) {
	s.sum.Placed = nil
	for _, w := range workers {
		p := s.placed[w]
		p.Node, p.NodeIncarnation, p.Number = w, 1, p.Number+n
		for range n {
			p.Placed = p.Placed.Add(one)
		}
		s.placed[w] = p
		s.sum.Placed = append(s.sum.Placed, p)
		s.sum.Decisions += n
	}
}

// flush makes n decisions for each of the workers, tells the data service, and lets the pushes happen.
func (s *fakeScheduler) flush(t *testing.T, n int64, workers ...string) {
	t.Helper()
	s.place(n, workers...)
	if _, err := s.data.Flush(context.Background(), s.sum); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}
