package rpctest

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
)

// The bare services use the library's simple server, framed transport and generated clients directly, which
// exchange the same bytes as package rpc, and do nothing but pass a message on. What a real service adds to
// their cost is its own.

func init() { thrift.ServerConnectivityCheckInterval = 0 }

func bareConf() *thrift.TConfiguration {
	return &thrift.TConfiguration{MaxMessageSize: 1 << 20, MaxFrameSize: 1 << 20}
}

// Bare is a running bare service.
type Bare struct {
	addr   string
	server *thrift.TSimpleServer
	served sync.WaitGroup
	conns  connList
	relay  *relay
}

// Addr returns the bound address, host:port.
func (b *Bare) Addr() string { return b.addr }

// Close stops the service and hangs up.
func (b *Bare) Close() {
	b.conns.close() // the library's Stop waits for every client to leave
	b.server.Stop()
	b.served.Wait()
	if b.relay != nil {
		b.relay.close()
	}
}

// StartSink starts a worker on loopback that accepts every placement and forgets it.
func StartSink() (*Bare, error) {
	return start(dodoor.NewWorkerServiceProcessor(sink{}), nil)
}

// StartRelay starts a scheduler on loopback that passes every submission on to the worker at sink,
// as one enqueue, over a number of connections, and answers when that did.
func StartRelay(sink string, connections int) (*Bare, error) {
	r := &relay{clients: make(chan *bareClient[dodoor.WorkerServiceClient], connections)}
	for range connections {
		c, err := dialBare(sink, dodoor.NewWorkerServiceClientFactory)
		if err != nil {
			r.close()
			return nil, err
		}
		r.clients <- c
	}
	return start(dodoor.NewSchedulerServiceProcessor(r), r)
}

func start(processor thrift.TProcessor, r *relay) (*Bare, error) {
	b := &Bare{relay: r}
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}
	socket := thrift.NewTServerSocketFromFactoryTimeout(func(a net.Addr) (net.Listener, error) {
		listener, err := net.Listen(a.Network(), a.String())
		return &rememberingListener{listener, &b.conns}, err
	}, addr, 0)
	if err := socket.Listen(); err != nil {
		return nil, fmt.Errorf("rpctest: %w", err)
	}
	b.addr = socket.Addr().String()
	conf := bareConf()
	b.server = thrift.NewTSimpleServer4(processor, socket,
		thrift.NewTFramedTransportFactoryConf(thrift.NewTBufferedTransportFactory(4096), conf),
		thrift.NewTCompactProtocolFactoryConf(conf))
	b.served.Go(func() { b.server.Serve() })
	return b, nil
}

type sink struct{ dodoor.WorkerService }

func (sink) Enqueue(context.Context, *dodoor.EnqueueRequest) (*dodoor.EnqueueReply, error) {
	return &dodoor.EnqueueReply{}, nil
}

type relay struct {
	dodoor.SchedulerService
	clients chan *bareClient[dodoor.WorkerServiceClient]
}

func (r *relay) close() {
	for range len(r.clients) {
		(<-r.clients).transport.Close()
	}
}

// Submit implements the generated service.
func (r *relay) Submit(ctx context.Context, q *dodoor.SubmitRequest) (*dodoor.SubmitReply, error) {
	zero, incarnation, tasks, address := int64(0), int64(1), int64(len(q.Tasks)), "127.0.0.1:1"
	request := &dodoor.EnqueueRequest{
		Scheduler:       &dodoor.SchedulerRef{Name: q.Client, Address: &address, Incarnation: &incarnation},
		NodeIncarnation: &incarnation, Number: &tasks,
		Placed: &dodoor.Load{Demand: &dodoor.Amounts{Millicores: &zero, MemoryMib: &zero},
			Tasks: &tasks, DurationMs: &zero, Work: &zero},
		Assignments: make([]*dodoor.Assignment, len(q.Tasks)),
	}
	for i, t := range q.Tasks {
		number := int64(i + 1)
		request.Assignments[i] = &dodoor.Assignment{
			Number: &number, TaskID: t.ID, TaskType: t.TaskType, Mode: t.Mode, Demand: t.Demand,
			DurationMs: t.DurationMs, TimeScale: t.TimeScale,
		}
	}
	c := <-r.clients
	defer func() { r.clients <- c }()
	if _, err := c.client.Enqueue(ctx, request); err != nil {
		return nil, err
	}
	return &dodoor.SubmitReply{}, nil
}

// Submitter is a bare client of a scheduler: one connection, one call at a time.
type Submitter struct {
	bare *bareClient[dodoor.SchedulerServiceClient]
	name string
}

// NewSubmitter connects to a scheduler, bare or real. Results would be collected under name.
func NewSubmitter(addr, name string) (*Submitter, error) {
	c, err := dialBare(addr, dodoor.NewSchedulerServiceClientFactory)
	if err != nil {
		return nil, err
	}
	return &Submitter{c, name}, nil
}

// Submit sends one message with a task per id: half a core and 128 MiB for a second. It fails if
// any is refused.
func (s *Submitter) Submit(ctx context.Context, taskType string, ids ...string) error {
	cores, memory, duration, scale := int64(500), int64(128), int64(1000), 1.0
	request := &dodoor.SubmitRequest{Client: &s.name, Tasks: make([]*dodoor.TaskSpec, len(ids))}
	for i := range ids {
		request.Tasks[i] = &dodoor.TaskSpec{
			ID: &ids[i], TaskType: &taskType, DurationMs: &duration, TimeScale: &scale,
			Demand: &dodoor.Amounts{Millicores: &cores, MemoryMib: &memory},
		}
	}
	reply, err := s.bare.client.Submit(ctx, request)
	if err != nil {
		return fmt.Errorf("rpctest: %w", err)
	}
	if refused := reply.GetRefused(); len(refused) > 0 {
		return fmt.Errorf("rpctest: refused: %s", refused[0].GetMessage())
	}
	return nil
}

// Close hangs up.
func (s *Submitter) Close() { s.bare.transport.Close() }

type bareClient[C any] struct {
	client    *C
	transport thrift.TTransport
}

func dialBare[C any](addr string, client func(thrift.TTransport, thrift.TProtocolFactory) *C) (*bareClient[C], error) {
	conf := bareConf()
	transport := thrift.NewTFramedTransportConf(
		thrift.NewTBufferedTransport(thrift.NewTSocketConf(addr, conf), 4096), conf)
	if err := transport.Open(); err != nil {
		return nil, fmt.Errorf("rpctest: %w", err)
	}
	return &bareClient[C]{client(transport, thrift.NewTCompactProtocolFactoryConf(conf)), transport}, nil
}

// rememberingListener keeps what it accepted, to hang up in the end.
type rememberingListener struct {
	net.Listener
	conns *connList
}

func (l *rememberingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.conns.add(conn)
	}
	return conn, err
}

type connList struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (l *connList) add(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
}

func (l *connList) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
}
