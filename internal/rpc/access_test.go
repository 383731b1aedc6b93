package rpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/rpc/rpctest"
)

// processors are the services as the IDL has them.
func processors() map[string]Service {
	return map[string]Service{
		schedulerService: SchedulerService(&fakeScheduler{}, dims),
		workerService:    WorkerService(&fakeWorker{}, dims),
		dataService:      DataServiceService(&fakeData{}, dims),
	}
}

// Every method of the IDL is in the table, and nothing else is; somebody may call it.
func TestEveryMethodHasItsCallers(t *testing.T) {
	for name, service := range processors() {
		for method := range service.endpoints {
			if access[name][method] == 0 {
				t.Errorf("nobody may call %s.%s: say in access.go who may", name, method)
			}
		}
		for method := range access[name] {
			if _, known := service.endpoints[method]; !known {
				t.Errorf("access.go speaks of %s.%s, which is not in the IDL", name, method)
			}
		}
	}
	if n := len(Rights()); n != 17+13+11 {
		t.Errorf("%d rights are listed", n)
	}
}

// What a role must never do, whoever edits the table.
func TestRolesKeepApart(t *testing.T) {
	for _, r := range Rights() {
		for _, role := range r.Roles {
			for what, wrong := range map[string]bool{
				"people speak for a service":         person(role) && slices.Contains(spoken, r.Method),
				"a worker does more than report":     role == identity.Worker && !slices.Contains(workersOwn, r.Method),
				"a user does what operators do":      role == identity.User && slices.Contains(operatorsOwn, r.Method),
				"the data service does but push":     role == identity.DataService && !slices.Contains([]string{"push", "status", "setup"}, r.Method),
				"a scheduler submits or runs things": role == identity.Scheduler && r.Service == schedulerService,
			} {
				if wrong {
					t.Errorf("%s: %s may call %s.%s", what, role, r.Service, r.Method)
				}
			}
		}
	}
}

var (
	spoken = []string{"complete", "push", "attach", "enqueue", "claim", "probe", "registerNode", "unregisterNode", "report",
		"registerScheduler", "unregisterScheduler", "checkScheduler", "flush"}
	workersOwn   = []string{"complete", "registerNode", "unregisterNode", "report", "status", "setup"}
	operatorsOwn = []string{"settle", "switchPolicy", "counters", "drain", "state"}
)

// called is a method that notes that it was called, and answers with nothing.
type called struct {
	name string
	by   *[]string
}

func (f called) Process(ctx context.Context, seq int32, in, out thrift.TProtocol) (bool, thrift.TException) {
	*f.by = append(*f.by, f.name+" by "+Caller(ctx).String())
	err := errors.Join(in.Skip(ctx, thrift.STRUCT), in.ReadMessageEnd(ctx), out.WriteMessageBegin(ctx, f.name, thrift.REPLY, seq),
		out.WriteStructBegin(ctx, ""), out.WriteFieldStop(ctx), out.WriteMessageEnd(ctx), out.Flush(ctx))
	return err == nil, thrift.WrapTException(err)
}

// Every role and every method: who may call it reaches the handler, and who may not is told so by a declared error, on a connection that
// goes on, and in the log.
func TestEveryRoleAndEveryMethod(t *testing.T) {
	r := newRealm(t)
	server := r.bundle(ds)
	for name, service := range processors() {
		var handled []string
		for method, e := range service.endpoints {
			e.function = called{method, &handled}
			service.endpoints[method] = e
		}
		counters := &Counters{}
		cfg := secured(server, nil)
		cfg.Observer = counters
		l := rpctest.NewListener()
		stop := run(t, NewServer(l, service, cfg))
		client := cfg
		client.Dial = l.Dial
		refused := int64(0)
		for _, role := range identity.Roles() {
			id := identity.Identity{Role: role, Name: role.String() + "-1"}
			client.Bundle, client.Observer = r.bundle(id), nil
			p := newPool("memory", identity.DataService, client, false)
			for method, e := range service.endpoints {
				handled = nil
				var reply declared
				_, err := p.Call(background, method, empty{}, &reply)
				if err != nil {
					t.Fatalf("%s calls %s.%s: %v", id, name, method, err)
				}
				if slices.Contains(rightTo(name, method), role) {
					if want := method + " by " + id.String(); reply.e != nil || !slices.Equal(handled, []string{want}) {
						t.Errorf("%s calls %s.%s: %v, handled %v", id, name, method, reply.e, handled)
					}
					continue
				}
				refused++
				want := fmt.Sprintf("%s may not call %s: %s may", id, method, e.granted)
				if reply.e == nil || reply.e.Code != dodoor.ErrorCode_NOT_ALLOWED || reply.e.Message != want || len(handled) > 0 {
					t.Errorf("%s calls %s.%s: %v, handled %v; want %q", id, name, method, reply.e, handled, want)
				}
			}
			if n := len(p.open); n != 1 {
				t.Errorf("%d connections: being refused breaks them", n)
			}
			p.close()
		}
		stop()
		counted := int64(0)
		for key, n := range counters.Map() {
			if strings.HasPrefix(key, "errors.in.") && strings.HasSuffix(key, ".not_allowed") {
				counted += n
			}
		}
		if counted != refused {
			t.Errorf("%s: %d refused, %d counted", name, refused, counted)
		}
	}
}

func rightTo(service, method string) []identity.Role {
	for _, r := range Rights() {
		if r.Service == service && r.Method == method {
			return r.Roles
		}
	}
	return nil
}

// empty is arguments that hold nothing; declared is a result that may hold a declared error.
type (
	empty    struct{}
	declared struct{ e *dodoor.ServiceError }
)

func (empty) Write(ctx context.Context, p thrift.TProtocol) error {
	return errors.Join(p.WriteStructBegin(ctx, ""), p.WriteFieldStop(ctx), p.WriteStructEnd(ctx))
}
func (empty) Read(ctx context.Context, p thrift.TProtocol) error { return p.Skip(ctx, thrift.STRUCT) }
func (*declared) Write(context.Context, thrift.TProtocol) error  { return errors.ErrUnsupported }

func (d *declared) Read(ctx context.Context, p thrift.TProtocol) error {
	if _, err := p.ReadStructBegin(ctx); err != nil {
		return err
	}
	for {
		_, kind, field, err := p.ReadFieldBegin(ctx)
		if err != nil || kind == thrift.STOP {
			return errors.Join(err, p.ReadStructEnd(ctx))
		}
		if field != declaredField || kind != thrift.STRUCT {
			return fmt.Errorf("field %d of type %d", field, kind)
		}
		d.e = &dodoor.ServiceError{}
		if err := errors.Join(d.e.Read(ctx, p), p.ReadFieldEnd(ctx)); err != nil {
			return err
		}
	}
}

// The reply to a refused call is what the generated client of the method reads, of every kind of result.
func TestRefusedCallsAreDeclared(t *testing.T) {
	r := newRealm(t)
	log := newLines()
	_, _, cfg := inMemory(t, WorkerService(&fakeWorker{}, dims), secured(r.bundle(w1), log))
	cfg.Bundle, cfg.Log = r.bundle(alice), nil
	c := workerClient(t, "memory", cfg)
	_, attach := c.Attach(background, validRef)
	_, state := c.State(background)
	_, counters := c.Counters(background)
	_, claim := c.Claim(background, cluster.ClaimRequest{Scheduler: validRef, NodeIncarnation: 1})
	drain := c.Drain(background, true)
	for method, err := range map[string]error{"drain": drain, "attach": attach, "state": state, "counters": counters, "claim": claim} {
		want := "not allowed: user alice may not call " + method + ": "
		if !errors.Is(err, cluster.Denied) || errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", method, err)
		}
		log.await(t, "user alice may not call "+method)
	}
}

// Arguments that are no struct are no reason to go on with a connection whose caller may not call.
func TestRefusedNonsense(t *testing.T) {
	r := newRealm(t)
	_, _, cfg := inMemory(t, WorkerService(&fakeWorker{}, dims), secured(r.bundle(w1), nil))
	cfg.Bundle = r.bundle(alice)
	p := newPool("memory", identity.Worker, cfg, false)
	defer p.close()
	conn, err := p.dial(background, time.Now().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	message := "\x82\x21\x01\x05drain\xff\xff\xff"
	conn.Conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	hangsUp(t, conn.Conn)
}
