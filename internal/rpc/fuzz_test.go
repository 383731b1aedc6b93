package rpc

import (
	"context"
	"io"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// obliging answers every request with as little as it may.
func obliging() *fakeScheduler {
	return &fakeScheduler{
		submit: func(context.Context, cluster.SubmitRequest) ([]cluster.Refusal, error) { return nil, nil },
		collect: func(context.Context, cluster.CollectRequest) (cluster.CollectReply, error) {
			return cluster.CollectReply{}, nil
		},
		cancel:   func(context.Context, string) (bool, error) { return true, nil },
		tasks:    func(context.Context, cluster.TaskQuery) ([]cluster.TaskStatus, error) { return nil, nil },
		complete: func(context.Context, cluster.CompletionNotice) error { return nil },
		push:     func(context.Context, cluster.Snapshot) error { return nil },
		view:     func(context.Context) (cluster.ClusterStatus, error) { return cluster.ClusterStatus{}, nil },
		settle:   func(context.Context) error { return nil },
		counters: func(context.Context) (map[string]int64, error) { return nil, nil },
		setup:    func(context.Context) (cluster.Setup, error) { return cluster.Setup{}, nil },
		become:   func(context.Context, string, uint64) error { return nil },
		jobs:     func(context.Context, cluster.JobQuery) ([]cluster.JobStatus, error) { return nil, nil },
		jobTasks: func(context.Context, cluster.JobTaskQuery) ([]cluster.JobTask, error) { return nil, nil },
		estimate: func(context.Context, cluster.EstimateQuery) ([]cluster.Estimate, error) { return nil, nil },
		onJob:    func(context.Context, string, string) (int64, error) { return 0, nil },
	}
}

// FuzzServerBytes sends any bytes to a server, which must hang up once they end and still answer
// others.
func FuzzServerBytes(f *testing.F) {
	s := overTCP(f, SchedulerService(obliging(), dims), quiet())
	c := schedulerClient(f, s.Addr(), quiet())
	valid := cancelRequest(f, "t")
	for _, seed := range [][]byte{nil, valid, append(valid, valid...), valid[:9], frame(1<<31, ""), frame(0, ""),
		frame(8, "garbage!"), []byte("GET / HTTP/1.1\r\n\r\n")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) { hangsUpAfter(t, s, c, input) })
}

// hangsUpAfter sends bytes to a server and ends, as the server has to; others it still answers.
func hangsUpAfter(t *testing.T, s *Server, c *SchedulerClient, input []byte) {
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	go func() {
		conn.Write(input)
		conn.(*net.TCPConn).CloseWrite()
	}()
	if _, err := io.Copy(io.Discard, conn); err != nil && isTimeout(err) {
		t.Fatal("the server does not hang up")
	}
	if found, err := c.Cancel(background, "t"); !found || err != nil {
		t.Fatalf("the server no longer answers: %v", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

func memoryProtocol(b []byte) (*thrift.TMemoryBuffer, thrift.TProtocol) {
	buffer := thrift.NewTMemoryBuffer()
	buffer.Write(b)
	return buffer, thrift.NewTCompactProtocolConf(buffer, &thrift.TConfiguration{MaxContainerSize: maxContainer})
}

// fuzzDecode feeds any bytes to a message's decoder. What it accepts must survive a round trip: then
// every value in it was within bounds, and nothing was changed on arrival.
func fuzzDecode[W thrift.TStruct, V any](f *testing.F, seed W, empty func() W, decode func(*decoder, W) V, encode func(*V) W) {
	buffer, protocol := memoryProtocol(nil)
	if err := seed.Write(background, protocol); err != nil {
		f.Fatal(err)
	}
	f.Add(buffer.Bytes())
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, input []byte) {
		_, protocol := memoryProtocol(input)
		w := empty()
		if w.Read(background, protocol) != nil {
			return
		}
		d := decoder{dims: dims}
		v := decode(&d, w)
		if d.err != nil {
			return
		}
		if d.depth != 0 {
			t.Fatal("the decoder lost its way")
		}
		again := decode(&d, encode(&v))
		if d.err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("%+v came back as %+v, %v", v, again, d.err)
		}
	})
}

func FuzzDecodeSubmit(f *testing.F) {
	seed := &dodoor.SubmitRequest{Client: ptr("c"), Tasks: []*dodoor.TaskSpec{validTask()}}
	decode := func(d *decoder, w *dodoor.SubmitRequest) cluster.SubmitRequest { r, _ := d.submit(w); return r }
	fuzzDecode(f, seed, dodoor.NewSubmitRequest, decode, encoder{dims}.submit)
}

func FuzzDecodeEnqueue(f *testing.F) {
	fuzzDecode(f, validEnqueue(), dodoor.NewEnqueueRequest, (*decoder).enqueue, encoder{dims}.enqueue)
}

func FuzzDecodeSnapshot(f *testing.F) {
	fuzzDecode(f, validSnapshot(), dodoor.NewSnapshot, (*decoder).snapshot, encoder{dims}.snapshot)
}

func FuzzDecodeReport(f *testing.F) {
	decode := func(d *decoder, w *dodoor.Report) cluster.Report { return d.report("report", w) }
	fuzzDecode(f, encoder{dims}.report(&validReport), dodoor.NewReport, decode, encoder{dims}.report)
}

func FuzzDecodeDelta(f *testing.F) {
	seed := encoder{dims}.delta(&cluster.Delta{Scheduler: "s0", Incarnation: 1, Decisions: 8,
		Placed: []cluster.Placed{{Node: "n0", NodeIncarnation: 1, Number: 3}}})
	fuzzDecode(f, seed, dodoor.NewDelta, (*decoder).delta, encoder{dims}.delta)
}

func FuzzDecodeCompletions(f *testing.F) {
	seed := encoder{dims}.notice(&cluster.CompletionNotice{Node: "n0", NodeIncarnation: 1, SchedulerIncarnation: 1,
		Completions: []cluster.Completion{{TaskID: "t1", Number: 1, Outcome: cluster.Failed, Reason: "exit 1"}}})
	fuzzDecode(f, seed, dodoor.NewCompletionNotice, (*decoder).notice, encoder{dims}.notice)
}
