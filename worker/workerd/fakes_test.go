package workerd

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// fakeData is a data service that notes what it is told.
type fakeData struct {
	rpc.DataService

	mu            sync.Mutex
	node          *cluster.Node // registered
	registrations int
	reports       []cluster.Report
	at            []time.Time // of the reports
	left          time.Time

	refuse        error         // answer to registrations and reports
	gate          chan struct{} // reports wait for it
	unregistering time.Duration // an unregistration takes
}

func (f *fakeData) RegisterNode(_ context.Context, n cluster.Node) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return 0, f.refuse
	}
	f.node = &n
	f.registrations++
	return 1, nil
}

func (f *fakeData) UnregisterNode(ctx context.Context, name string, incarnation int64) error {
	f.mu.Lock()
	if f.node != nil && f.node.Name == name && f.node.Incarnation == incarnation {
		f.node, f.left = nil, time.Now()
	}
	takes := f.unregistering
	f.mu.Unlock()
	rest(ctx, takes)
	return nil
}

func (f *fakeData) Report(_ context.Context, r cluster.Report) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports, f.at = append(f.reports, r), append(f.at, time.Now())
	if gate := f.gate; gate != nil {
		f.mu.Unlock()
		<-gate
		f.mu.Lock()
	}
	if f.refuse != nil {
		return f.refuse
	}
	if f.node == nil || f.node.Incarnation != r.Incarnation {
		return cluster.Errorf(cluster.UnknownNode, "no such worker")
	}
	return nil
}

// change sets a field.
func (f *fakeData) change(set func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set()
}

// reported returns the reports so far, once everything is at rest.
func (f *fakeData) reported() []cluster.Report {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]cluster.Report(nil), f.reports...)
}

func (f *fakeData) last() cluster.Report {
	all := f.reported()
	return all[len(all)-1]
}

func (f *fakeData) registered() (node *cluster.Node, times int) {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.node, f.registrations
}

// fakeScheduler notes completion notices, and is the scheduler's end of a stream of placements.
type fakeScheduler struct {
	rpc.Scheduler
	ref    cluster.SchedulerRef
	client *rpc.WorkerClient
	stop   func() // answering; placing goes on

	mu      sync.Mutex
	notices []cluster.CompletionNotice
	at      []time.Time
	answer  func(n int) error // to the n-th notice; nil: it is taken
	changed chan struct{}

	incarnation, number int64
	placed              cluster.Load
}

// newScheduler starts a scheduler in memory that places on the worker at w1:1.
func newScheduler(t *testing.T, n *network, name string, incarnation int64) *fakeScheduler {
	t.Helper()
	s := &fakeScheduler{ref: cluster.SchedulerRef{Name: name, Address: name + ":1", Incarnation: incarnation}, changed: make(chan struct{})}
	s.serve(t, n)
	s.client = rpc.NewWorkerClient("w1:1", dims, n.rpc())
	t.Cleanup(func() { s.client.Close() })
	return s
}

func (s *fakeScheduler) serve(t *testing.T, n *network) {
	s.stop = serve(t, n.listen(s.ref.Address), rpc.SchedulerService(s, dims))
}

func (s *fakeScheduler) Complete(_ context.Context, n cluster.CompletionNotice) error {
	s.mu.Lock()
	s.notices, s.at = append(s.notices, n), append(s.at, time.Now())
	answer, number := s.answer, len(s.notices)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	if answer == nil {
		return nil
	}
	return answer(number)
}

func (s *fakeScheduler) answers(answer func(n int) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// received returns the notices so far, once everything is at rest.
func (s *fakeScheduler) received() []cluster.CompletionNotice {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]cluster.CompletionNotice(nil), s.notices...)
}

// completions returns what the notices so far say about every task.
func (s *fakeScheduler) completions() map[string][]cluster.Completion {
	all := map[string][]cluster.Completion{}
	for _, n := range s.received() {
		for _, c := range n.Completions {
			all[c.TaskID] = append(all[c.TaskID], c)
		}
	}
	return all
}

// attach opens the stream.
func (s *fakeScheduler) attach(t testing.TB) {
	t.Helper()
	reply, err := s.client.Attach(context.Background(), s.ref)
	if err != nil {
		t.Fatal(err)
	}
	s.incarnation, s.number = reply.Incarnation, reply.Number
}

// task is a placement to be: one core for a while, unless said otherwise.
type task struct {
	id, kind string
	takes    time.Duration
	cores    int64
}

// place enqueues tasks in one message and returns the answer.
func (s *fakeScheduler) place(t testing.TB, tasks ...task) cluster.EnqueueReply {
	t.Helper()
	if s.incarnation == 0 {
		s.attach(t)
	}
	e := cluster.Enqueue{Scheduler: s.ref, NodeIncarnation: s.incarnation}
	for _, task := range tasks {
		a := cluster.Assignment{TaskID: task.id, Type: task.kind, TimeScale: 1,
			Shape: cluster.Shape{Demand: cluster.Resources{max(task.cores, 1) * 1000, 100}, Duration: task.takes.Milliseconds()}}
		if a.Type == "" {
			a.Type = "plain"
		}
		s.number++
		a.Number = s.number
		s.placed = s.placed.Add(cluster.LoadOf(a.Shape))
		e.Assignments = append(e.Assignments, a)
	}
	e.Number, e.Placed = s.number, s.placed
	reply, err := s.client.Enqueue(context.Background(), e)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// accept places tasks and fails the test on a refusal.
func (s *fakeScheduler) accept(t testing.TB, tasks ...task) {
	t.Helper()
	if reply := s.place(t, tasks...); len(reply.Refused) > 0 {
		t.Fatalf("refused: %v", reply.Refused)
	}
}
