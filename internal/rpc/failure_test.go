package rpc

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// TestPanickingHandler: the caller learns of it, the process goes on, and the log has the stack.
func TestPanickingHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters, log := &Counters{}, &bytes.Buffer{}
		cfg := quiet()
		cfg.Observer, cfg.MaxHandlers, cfg.Log = counters, 1, slog.New(slog.NewTextHandler(log, nil))
		h := answering()
		h.settle = func(context.Context) error { panic("out of paper") }
		_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
		client.Observer = nil
		c := schedulerClient(t, "", client)
		for range 3 {
			err := c.Settle(background)
			if !errors.Is(err, ErrRemote) || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "out of paper") {
				t.Errorf("got %v", err)
			}
		}
		answers(t, c)
		if n := counters.Events(Panicked); n != 3 {
			t.Errorf("%d panics counted, want 3", n)
		}
		if n := counters.Errors(MethodSettle, In); n != 3 {
			t.Errorf("%d errors counted, want 3", n)
		}
		if !strings.Contains(log.String(), "TestPanickingHandler") {
			t.Error("the log has no stack")
		}
	})
}

// TestUndeclaredError: it reaches the caller in words, as neither a declared nor a transport error.
func TestUndeclaredError(t *testing.T) {
	h := answering()
	h.settle = func(context.Context) error { return errors.New("disk on fire") }
	_, _, cfg := inMemory(t, SchedulerService(h, dims), quiet())
	c := schedulerClient(t, "", cfg)
	err := c.Settle(background)
	if !errors.Is(err, ErrRemote) || cluster.CodeOf(err) != 0 || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("got %v", err)
	}
	answers(t, c)
}

// TestUnknownMethod: the two ends are of different versions.
func TestUnknownMethod(t *testing.T) {
	_, _, cfg := inMemory(t, WorkerService(&fakeWorker{}, dims), quiet())
	err := schedulerClient(t, "", cfg).Settle(background)
	var application thrift.TApplicationException
	if !errors.Is(err, ErrRemote) || !errors.As(err, &application) || application.TypeId() != thrift.UNKNOWN_METHOD {
		t.Errorf("got %v", err)
	}
}

// TestInvalidRequestNeverReachesTheHandler: it is answered with a declared error that names the
// field, and counted.
func TestInvalidRequestNeverReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counters := &Counters{}
		cfg := quiet()
		cfg.Observer = counters
		_, _, client := inMemory(t, WorkerService(&fakeWorker{}, dims), cfg)
		client.Observer = nil
		c := workerClient(t, "", client)
		_, err := c.Enqueue(background, cluster.Enqueue{Scheduler: validRef, NodeIncarnation: -5})
		if !errors.Is(err, cluster.Invalid) || !strings.Contains(err.Error(), "node_incarnation is -5: must be positive") {
			t.Errorf("got %v", err)
		}
		if _, err := c.Cancel(background, "", ""); !errors.Is(err, cluster.Invalid) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if n := counters.Events(BadMessage); n != 2 {
			t.Errorf("%d bad messages, want 2", n)
		}
	})
}

// TestSubmitAnswersForInvalidTasks: those that reached the handler and those that did not are refused
// in one reply; with nothing left the handler is not bothered.
func TestSubmitAnswersForInvalidTasks(t *testing.T) {
	h := answering()
	h.submit = func(_ context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
		if len(r.Tasks) != 2 {
			t.Errorf("handler got %d tasks, want 2", len(r.Tasks))
		}
		return []cluster.Refusal{{TaskID: "b", Code: cluster.UnknownType}}, nil
	}
	_, _, cfg := inMemory(t, SchedulerService(h, dims), quiet())
	c := schedulerClient(t, "", cfg)
	bad := cluster.TaskSpec{ID: "c", Type: "x", Duration: ptr(int64(-1))}
	refused, err := c.Submit(background, cluster.SubmitRequest{Client: "c",
		Tasks: []cluster.TaskSpec{{ID: "a", Type: "x"}, {ID: "b", Type: "x"}, bad}})
	if err != nil || len(refused) != 2 || refused[0].TaskID != "c" || refused[0].Code != cluster.InvalidTask ||
		refused[1].TaskID != "b" || refused[1].Code != cluster.UnknownType {
		t.Errorf("got %+v, %v", refused, err)
	}
	refused, err = c.Submit(background, cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{bad}})
	if err != nil || len(refused) != 1 {
		t.Errorf("got %+v, %v", refused, err)
	}
}

// TestOversizedMessages: a request over the limit is not sent, a reply over the limit is replaced by
// an error, and both leave the client usable.
func TestOversizedMessages(t *testing.T) {
	cfg := quiet()
	cfg.MaxMessageBytes, cfg.MaxSnapshotBytes = 10_000, 10_000
	many := make([]cluster.TaskStatus, 1000)
	for i := range many {
		many[i] = cluster.TaskStatus{ID: "task", Type: "type", Phase: cluster.Running}
	}
	h := answering()
	h.tasks = func(context.Context, cluster.TaskQuery) ([]cluster.TaskStatus, error) { return many, nil }
	_, _, client := inMemory(t, SchedulerService(h, dims), cfg)
	counters := &Counters{}
	client.Observer = counters
	c := schedulerClient(t, "", client)

	_, err := c.Submit(background, cluster.SubmitRequest{Client: "c", Tasks: make([]cluster.TaskSpec, 1000)})
	if !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrRemote) {
		t.Errorf("request: %v", err)
	}
	answers(t, c)
	_, err = c.Tasks(background, cluster.TaskQuery{Max: 1000})
	if !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("reply: %v", err)
	}
	answers(t, c)

	// A server that allows more than its client does.
	cfg.MaxSnapshotBytes = 1 << 20
	_, _, generous := inMemory(t, SchedulerService(h, dims), cfg)
	generous.MaxSnapshotBytes = 10_000
	c = schedulerClient(t, "", generous)
	if _, err = c.Tasks(background, cluster.TaskQuery{Max: 1000}); !errors.Is(err, ErrRemote) || errors.Is(err, ErrUnavailable) {
		t.Errorf("reply from a generous server: %v", err)
	}
	answers(t, c)
}

// TestInvalidReply: a peer that answers nonsense is an error, and nothing of it is used.
func TestInvalidReply(t *testing.T) {
	h := &fakeWorker{attach: func(context.Context, cluster.SchedulerRef) (cluster.AttachReply, error) {
		return cluster.AttachReply{Incarnation: 0, Number: 1, Report: validReport}, nil
	}}
	_, _, cfg := inMemory(t, WorkerService(h, dims), quiet())
	_, err := workerClient(t, "", cfg).Attach(background, validRef)
	if !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), "invalid reply: incarnation is 0: must be positive") {
		t.Errorf("got %v", err)
	}
}

// TestUnknownErrorCode: a declared error of a newer version is not mistaken for an older one.
func TestUnknownErrorCode(t *testing.T) {
	err := callerError(&dodoor.ServiceError{Code: dodoor.ErrorCode(cluster.Denied) + 1, Message: "m"})
	if !errors.Is(err, ErrRemote) || cluster.CodeOf(err) != 0 {
		t.Errorf("got %v", err)
	}
	if err := callerError(thrift.NewTApplicationException(thrift.MISSING_RESULT, "nothing")); !errors.Is(err, ErrRemote) {
		t.Errorf("empty reply: %v", err)
	}
}

// TestWhenToComeBack: what a declared error says of that is a time, or the answer is none.
func TestWhenToComeBack(t *testing.T) {
	for _, c := range []struct {
		ms   int64
		want time.Duration
		bad  bool
	}{{0, 0, false}, {1, time.Millisecond, false}, {maxMillis, time.Duration(maxMillis) * time.Millisecond, false}, {-1, 0, true},
		{maxMillis + 1, 0, true}} {
		err := callerError(&dodoor.ServiceError{Code: dodoor.ErrorCode_OVERLOADED, RetryAfterMs: &c.ms})
		if errors.Is(err, ErrRemote) != c.bad || errors.Is(err, cluster.Overloaded) == c.bad || cluster.AfterOf(err) != c.want {
			t.Errorf("retry_after_ms = %d: %v, after %v", c.ms, err, cluster.AfterOf(err))
		}
	}
}
