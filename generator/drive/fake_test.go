package drive

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeScheduler accepts tasks and ends each after runTime. Methods that the generator has no business
// to call are the nil interface's, and panic.
type fakeScheduler struct {
	rpc.Scheduler
	t       *testing.T
	name    string
	latency time.Duration // of a submission
	runTime time.Duration

	mu          sync.Mutex
	incarnation int64
	dead        bool
	cut         bool // off from its clients, and working on
	refuse      func(cluster.TaskSpec) *cluster.Refusal
	fail        func(cluster.SubmitRequest) error // before the tasks are taken
	loseReply   func() bool                       // after the tasks were taken
	silent      bool                              // tasks never end
	held        map[string]int                    // how often each task was accepted, by this incarnation
	records     []cluster.TaskRecord
	acked, last int64
	news        chan struct{}
	batches     []int
	inFlight    int
	maxInFlight int
	counters    map[string]int64
}

func newFake(t *testing.T, name string) *fakeScheduler {
	return &fakeScheduler{t: t, name: name, latency: time.Millisecond, runTime: 100 * time.Millisecond, incarnation: 1,
		held: map[string]int{}, news: make(chan struct{}), counters: map[string]int64{}}
}

var errGone = fmt.Errorf("%w: connection reset", rpc.ErrUnavailable)

func pass(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// after calls f in a while, unless the test ends first. It stands for time.AfterFunc, many of which
// in one synctest bubble crash the race detector (golang.org/issue/78156).
func after(t *testing.T, d time.Duration, f func()) {
	ctx := t.Context()
	go func() {
		if pass(ctx, d); ctx.Err() == nil {
			f()
		}
	}()
}

func (f *fakeScheduler) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	f.mu.Lock()
	f.inFlight++
	f.maxInFlight = max(f.maxInFlight, f.inFlight)
	f.mu.Unlock()
	pass(ctx, f.latency)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inFlight--
	if f.dead || f.cut {
		return nil, errGone
	}
	f.counters["in.submit"]++
	if f.fail != nil {
		if err := f.fail(r); err != nil {
			return nil, err
		}
	}
	f.batches = append(f.batches, len(r.Tasks))
	var refused []cluster.Refusal
	for _, t := range r.Tasks {
		if f.held[t.ID] > 0 {
			refused = append(refused, cluster.Refusal{TaskID: t.ID, Code: cluster.DuplicateTask, Message: "held"})
			continue
		}
		if f.refuse != nil {
			if refusal := f.refuse(t); refusal != nil {
				refused = append(refused, *refusal)
				continue
			}
		}
		f.held[t.ID]++
		f.run(t, f.incarnation)
	}
	if f.loseReply != nil && f.loseReply() {
		return nil, errGone
	}
	return refused, nil
}

func (f *fakeScheduler) run(t cluster.TaskSpec, incarnation int64) {
	received := time.Duration(time.Now().UnixNano())
	if f.silent {
		return
	}
	after(f.t, f.runTime, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.dead || f.incarnation != incarnation {
			return
		}
		f.last++
		f.records = append(f.records, cluster.TaskRecord{
			ID: t.ID, Type: t.Type, Mode: t.Mode, Scheduler: f.name, Worker: "w-" + f.name, Class: "small", Demand: *t.Demand,
			Estimate: *t.Duration, Received: received, Scheduling: time.Millisecond, Wait: time.Millisecond,
			Run: f.runTime - 3*time.Millisecond, Makespan: f.runTime, Attempts: 1, Outcome: cluster.Finished,
		})
		close(f.news)
		f.news = make(chan struct{})
	})
}

func (f *fakeScheduler) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	timer := time.NewTimer(r.Wait)
	defer timer.Stop()
	for expired := false; ; {
		f.mu.Lock()
		reply, err := f.collected(r)
		news := f.news
		f.mu.Unlock()
		if err != nil || len(reply.Records) > 0 || expired {
			return reply, err
		}
		select {
		case <-news:
		case <-timer.C:
			expired = true
		case <-ctx.Done():
			return reply, ctx.Err()
		}
	}
}

func (f *fakeScheduler) collected(r cluster.CollectRequest) (reply cluster.CollectReply, err error) {
	if f.dead || f.cut {
		return reply, errGone
	}
	if r.Incarnation != f.incarnation {
		r.After = 0
	}
	for len(f.records) > 0 && f.acked < r.After {
		f.records, f.acked = f.records[1:], f.acked+1
	}
	reply = cluster.CollectReply{Cursor: r.After, Incarnation: f.incarnation}
	reply.Records = append(reply.Records, f.records[:min(len(f.records), r.Max)]...)
	reply.Cursor = f.acked + int64(len(reply.Records))
	return reply, nil
}

func (f *fakeScheduler) Setup(context.Context) (cluster.Setup, error) {
	return cluster.Setup{}, errors.ErrUnsupported
}
func (f *fakeScheduler) SwitchPolicy(context.Context, string, uint64) error {
	return errors.ErrUnsupported
}
func (f *fakeScheduler) Counters(context.Context) (map[string]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return nil, errGone
	}
	counts := map[string]int64{}
	for k, v := range f.counters {
		counts[k] = v
	}
	return counts, nil
}

// set changes the fake's behaviour; kill and restart are the two that tests need by name.
func (f *fakeScheduler) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
	close(f.news)
	f.news = make(chan struct{})
}

func (f *fakeScheduler) kill() { f.set(func() { f.dead = true }) }

// restart brings up another process: it knows nothing of what the former one held.
func (f *fakeScheduler) restart() {
	f.set(func() {
		f.dead = false
		f.incarnation++
		f.held, f.records, f.acked, f.last = map[string]int{}, nil, 0, 0
	})
}

func (f *fakeScheduler) unread() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.records)
}

// fakeData is a data service with two nodes, one of which has not reported yet.
type fakeData struct{ rpc.DataService }

func (fakeData) Counters(context.Context) (map[string]int64, error) {
	return map[string]int64{"in.report": 5}, nil
}

func (fakeData) Status(context.Context) (cluster.ClusterStatus, error) {
	node := func(name string) cluster.Node {
		return cluster.Node{Name: name, Class: "small", Capacity: cluster.Resources{8000, 1024}, Slots: 8}
	}
	return cluster.ClusterStatus{Decisions: 40, Nodes: []cluster.NodeStatus{
		{Node: node("w-a"), Report: &cluster.Report{RunningDemand: cluster.Resources{2500, 64}, Running: 2, Queued: 1}},
		{Node: node("w-b")},
	}}, nil
}
