package host

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/internal/telemetry"
)

// agent is host a of a cluster of two, on ports that nobody had a moment ago.
func agent(t *testing.T, f Folder) *Agent {
	t.Helper()
	ports := make([]int, 4)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		ports[i] = listener.Addr().(*net.TCPAddr).Port
	}
	text := fmt.Sprintf(`[[class]]
name = "m510"
cores = 1
memory_mb = 64
[[task_type]]
name = "nap"
[[host]]
name = "a"
address = "127.0.0.1"
roles = ["datastore", "scheduler", "worker"]
class = "m510"
[host.ports]
datastore = %d
scheduler = %d
worker = %d
[[host]]
name = "b"
address = "127.0.0.1"
roles = ["worker"]
class = "m510"
[host.ports]
worker = %d
`, ports[0], ports[1], ports[2], ports[3])
	if err := os.WriteFile(f.Configuration(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &Agent{Folder: f, Configuration: f.Configuration(), Host: "a", Out: &bytes.Buffer{}}
	if err := a.Read(nil); err != nil {
		t.Fatal(err)
	}
	return a
}

// Something answers at the ports in the background until it is told to stop, or the host is checked or started.
func TestAnsweringInTheBackground(t *testing.T) {
	t.Setenv(asAnswer, "1")
	f := program(t, `exec `+os.Args[0]+` "$@"`)
	a := agent(t, f)
	var all []string
	for _, s := range a.services {
		all = append(all, s.Dial())
	}
	for name, end := range map[string]func() error{"stop": a.StopAnswering, "check": a.Check, "down": a.Down} {
		if err := a.StartAnswering(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if found := CheckReach(t.Context(), all); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		var versions strings.Builder
		if err := Versions(f, &versions); err != nil || strings.Contains(versions.String(), "runs") {
			t.Errorf("it counts as a service: %v\n%s", err, versions.String())
		}
		if err := end(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if found := CheckReach(t.Context(), all); len(found) != len(all) {
			t.Errorf("after %s somebody answers: %v", name, found)
		}
	}
}

// Who has registered is known by name; who has not is named.
func TestAwait(t *testing.T) {
	f, _ := stage(t, "")
	a := agent(t, f)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Await(over, []string{"a"}); err == nil || !strings.Contains(err.Error(), "data service at 127.0.0.1:") {
		t.Errorf("without a data service: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	site := func() assemble.Site {
		return assemble.Site{Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("test", "test")}
	}
	run := func(s interface{ Run(context.Context) error }, err error) {
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() { _ = s.Run(ctx) })
	}
	as := func(role, name string) *conf.Config {
		s, err := a.c.Service(role, name)
		if err != nil {
			t.Fatal(err)
		}
		return a.c.As(s)
	}
	data, err := assemble.Datastore(as(conf.RoleDatastore, "datastore-a"), site())
	run(data, err)
	scheduler, err := assemble.Scheduler(as(conf.RoleScheduler, "scheduler-a"), site())
	run(scheduler, err)
	worker, err := assemble.Worker(as(conf.RoleWorker, "b"), site())
	run(worker, err)
	if err := a.Await(t.Context(), []string{"scheduler-a", "b"}); err != nil {
		t.Error(err)
	}
	some, cancel := context.WithTimeout(t.Context(), 10*askEvery)
	defer cancel()
	err = a.Await(some, []string{"scheduler-a", "a", "b"})
	if err == nil || !strings.Contains(err.Error(), "not registered with the data service: a;") {
		t.Error(err)
	}
}
