package rpc

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"reflect"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// examples are valid arguments of every type that a request has.
var examples = func() map[reflect.Type]any {
	all := map[reflect.Type]any{}
	for _, v := range []any{"t", int64(1), uint64(1), true, validDemand,
		cluster.SubmitRequest{Client: "c", Tasks: []cluster.TaskSpec{taskSpecs.Example(1)}},
		cluster.CollectRequest{Client: "c", Max: 10}, queries.Example(1), cluster.JobQuery{ID: "j", Max: 3},
		cluster.JobTaskQuery{Job: "j", Max: 3}, cluster.EstimateQuery{Max: 3}, notices.Example(1), snapshots.Example(1), schedulerRefs.Example(1),
		enqueues.Example(1), claimRequests.Example(1), templates.Example(1), outputRequests.Example(1), nodes.Example(1), deltas.Example(1),
		reports.Example(1)} {
		all[reflect.TypeOf(v)] = v
	}
	return all
}()

// requestsOf are the bodies of valid messages, one for each method of a client.
func requestsOf(f *testing.F, connect func(Config) any) (bodies [][]byte) {
	cfg := quiet()
	sent := make(chan []byte)
	cfg.Dial = func(context.Context, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			b := make([]byte, 1<<16)
			n, _ := far.Read(b)
			sent <- b[lengthBytes:n]
		}()
		return near, nil
	}
	client := reflect.ValueOf(connect(cfg))
	for i := range client.NumMethod() {
		method := client.Type().Method(i)
		args := []reflect.Value{reflect.ValueOf(background)}
		if method.Name == "Close" {
			continue
		}
		for k := 2; k < method.Type.NumIn(); k++ {
			v, known := examples[method.Type.In(k)]
			if !known {
				f.Fatalf("%s: no example of %v", method.Name, method.Type.In(k))
			}
			args = append(args, reflect.ValueOf(v))
		}
		go client.Method(i).Call(args)
		bodies = append(bodies, <-sent)
	}
	client.MethodByName("Close").Call(nil)
	return bodies
}

// fuzzRequests sends frames of any content to a server. It must answer or hang up, no handler may panic, and others are served.
func fuzzRequests(f *testing.F, service Service, connect func(Config) any, ask func(Config) error) {
	bodies := requestsOf(f, connect)
	if len(bodies) != len(service.endpoints) {
		f.Fatalf("%d methods, %d requests", len(service.endpoints), len(bodies))
	}
	for _, body := range bodies {
		f.Add(body)
	}
	counters := &Counters{}
	cfg := quiet()
	cfg.Observer, cfg.Limits.FirstMessage = counters, 2*time.Millisecond // half a message has so long
	_, l, client := inMemory(f, service, cfg)
	client.Observer = nil
	asked := 0
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		conn, err := l.Dial(background, "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(time.Minute))
		go conn.Write(frame(uint32(len(body)), string(body)))
		if _, err := io.ReadFull(conn, make([]byte, lengthBytes)); err != nil && isTimeout(err) && len(body) > 0 {
			t.Fatal("the server neither answers nor hangs up")
		}
		if n := counters.Events(Panicked); n > 0 {
			t.Fatal("a handler panicked")
		}
		if asked++; asked%64 == 0 {
			if err := ask(client); err != nil {
				t.Fatalf("the server no longer answers: %v", err)
			}
		}
	})
}

func FuzzSchedulerRequests(f *testing.F) {
	fuzzRequests(f, SchedulerService(obliging(), dims), func(cfg Config) any { return NewSchedulerClient("", dims, cfg) },
		func(cfg Config) error {
			c := NewSchedulerClient("", dims, cfg)
			defer c.Close()
			return c.Settle(background)
		})
}

func FuzzWorkerRequests(f *testing.F) {
	h := &fakeWorker{
		attach:   func(context.Context, cluster.SchedulerRef) (r cluster.AttachReply, _ error) { return },
		enqueue:  func(context.Context, cluster.Enqueue) (r cluster.EnqueueReply, _ error) { return },
		claim:    func(context.Context, cluster.ClaimRequest) (r []cluster.Holding, _ error) { return },
		probe:    func(context.Context, string, cluster.Resources) (r cluster.ProbeReply, _ error) { return },
		cancel:   func(context.Context, string, string) (bool, error) { return true, nil },
		drain:    func(context.Context, bool) error { return nil },
		tasks:    func(context.Context, cluster.TaskQuery) (r []cluster.TaskStatus, _ error) { return },
		state:    func(context.Context) (r cluster.Report, _ error) { return },
		counters: func(context.Context) (r map[string]int64, _ error) { return },
		setup:    func(context.Context) (r cluster.Setup, _ error) { return },
		refuses:  func(context.Context, cluster.Template) (r string, _ error) { return },
		output:   func(context.Context, cluster.OutputRequest) (r cluster.OutputChunk, _ error) { return },
		forget:   func(context.Context, string) error { return nil },
	}
	fuzzRequests(f, WorkerService(h, dims), func(cfg Config) any { return NewWorkerClient("", dims, cfg) }, func(cfg Config) error {
		c := NewWorkerClient("", dims, cfg)
		defer c.Close()
		return c.Drain(background, false)
	})
}

func FuzzDataRequests(f *testing.F) {
	about := func(context.Context, string, int64) error { return nil }
	h := &fakeData{
		registerNode: func(context.Context, cluster.Node) (int64, error) { return 1, nil }, unregisterNode: about,
		registerScheduler:   func(context.Context, cluster.SchedulerRef) (r cluster.Snapshot, _ error) { return },
		unregisterScheduler: about, checkScheduler: about,
		flush:    func(context.Context, cluster.Delta) (int64, error) { return 1, nil },
		report:   func(context.Context, cluster.Report) error { return nil },
		status:   func(context.Context) (r cluster.ClusterStatus, _ error) { return },
		settle:   func(context.Context) error { return nil },
		counters: func(context.Context) (r map[string]int64, _ error) { return },
		setup:    func(context.Context) (r cluster.Setup, _ error) { return },
	}
	fuzzRequests(f, DataServiceService(h, dims), func(cfg Config) any { return NewDataClient("", dims, cfg) }, func(cfg Config) error {
		c := NewDataClient("", dims, cfg)
		defer c.Close()
		return c.Settle(background)
	})
}

// FuzzHandshake sends any bytes to a service that speaks TLS alone, which must hang up once they end and still answer others.
func FuzzHandshake(f *testing.F) {
	r := newRealm(f)
	s := overTCP(f, SchedulerService(obliging(), dims), secured(r.bundle(s1), nil))
	client := quiet()
	client.Bundle = r.bundle(operator)
	c := schedulerClient(f, s.Addr(), client)
	hello := make(chan []byte, 1)
	near, far := net.Pipe()
	go tls.Client(near, client.Bundle.Client(s1)).Handshake()
	go func() {
		b := make([]byte, 1<<12)
		n, _ := far.Read(b)
		hello <- b[:n]
		far.Close()
	}()
	for first, seeds := <-hello, 0; seeds < 3; seeds++ {
		f.Add(first[:len(first)>>seeds])
	}
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add(cancelRequest(f, "t"))
	f.Fuzz(func(t *testing.T, input []byte) { hangsUpAfter(t, s, c, input) })
}
