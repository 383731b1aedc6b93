package nemesis

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dodoor/chaos"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// errand is what a client does: a process of its own at its own address.
type errand struct {
	Client     chaos.Client           `json:"client"`
	Scenario   chaos.Scenario         `json:"scenario"`
	Schedulers []cluster.SchedulerRef `json:"schedulers"`
	Argv       []string               `json:"argv"`  // of every task, before what it does
	Start      int64                  `json:"start"` // of the scenario, as clock tells it; 0: when the client starts
	Tempo      tempo                  `json:"tempo"`
	Out        string                 `json:"out"` // the file of what it has to tell
}

// errandVariable has this program be a client; it names the file of its errand.
const errandVariable = "DODOOR_CHAOS_ERRAND"

// clock is what all processes of this machine share and nobody sets, in nanoseconds.
func clock() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// client is one that is on its errand.
type client struct {
	errand
	tasks    map[string]*chaos.Task // its own
	targets  []session.Target
	deadline context.Context

	mu      sync.Mutex
	out     *json.Encoder
	failure error
	ended   map[string]bool // by the id: somebody told how
}

// serveErrand is what that program does.
func serveErrand(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	c := &client{tasks: map[string]*chaos.Task{}, ended: map[string]bool{}}
	if err := json.Unmarshal(text, &c.errand); err != nil {
		return err
	}
	if c.Start == 0 {
		c.Start = clock()
	}
	file, err := os.Create(c.Out)
	if err != nil {
		return err
	}
	defer file.Close()
	c.out = json.NewEncoder(file)
	var cancel context.CancelFunc
	c.deadline, cancel = context.WithTimeout(context.Background(), c.Scenario.Shape.Span+c.Scenario.Quiet-c.now())
	defer cancel()
	for _, s := range c.Schedulers {
		service := rpc.NewSchedulerClient(s.Address, cluster.Standard(), c.Tempo.wire())
		defer service.Close()
		c.targets = append(c.targets, session.Target{Name: s.Name, Address: s.Address, Service: &witness{service, s.Name, c}})
	}
	var mine []*chaos.Task
	for i := range c.Scenario.Tasks {
		if t := &c.Scenario.Tasks[i]; t.Client == c.Client.Name {
			c.tasks[t.ID], mine = t, append(mine, t)
		}
	}
	waiting, over := context.WithCancel(c.deadline)
	var asking sync.WaitGroup
	asking.Go(func() { c.withdraw(waiting, mine) })
	if c.Client.Resubmits {
		c.submit(mine)
	} else {
		c.submitOnce(mine)
	}
	over()
	asking.Wait()
	return c.failure
}

// wire is how this program talks to services: as impatient as they are among themselves.
func (t tempo) wire() rpc.Config {
	cfg := rpc.Default()
	cfg.DialTimeout, cfg.CallTimeout = t.Dial, t.Call
	return cfg
}

// now is the time since the start of the scenario.
func (c *client) now() time.Duration { return time.Duration(clock() - c.Start) }

// tell writes a line of the history.
func (c *client) tell(r chaos.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.At, r.Client = c.now(), c.Client.Name
	if r.Kind == chaos.Collected {
		c.ended[r.Task] = true
	}
	c.fail(c.out.Encode(&r))
}

// fail keeps the first thing that went wrong with this program itself. The lock is held.
func (c *client) fail(err error) {
	if c.failure == nil {
		c.failure = err
	}
}

// witness is a scheduler, and tells what it was asked and what it answered.
type witness struct {
	rpc.Scheduler
	name   string
	client *client
}

// Submit sends the tasks as the scenario has them.
func (w *witness) Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error) {
	for i := range r.Tasks {
		r.Tasks[i] = w.client.spec(r.Tasks[i].ID)
	}
	refused, err := w.Scheduler.Submit(ctx, r)
	reasons := map[string]string{}
	for i := range refused {
		reasons[refused[i].TaskID] = refused[i].Error()
	}
	for i := range r.Tasks {
		said := chaos.Record{Kind: chaos.Submitted, Task: r.Tasks[i].ID, Scheduler: w.name, Answer: chaos.Accepted}
		reason, is := reasons[said.Task]
		switch {
		case err != nil && (rpc.NotSent(err) || rpc.Refused(err) || cluster.CodeOf(err) != 0):
			said.Answer, said.Reason = chaos.Refused, err.Error()
		case err != nil:
			said.Answer, said.Reason = chaos.Unknown, err.Error()
		case is:
			said.Answer, said.Reason = chaos.Refused, reason
		}
		w.client.tell(said)
	}
	return refused, err
}

// Collect tells of every result.
func (w *witness) Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
	reply, err := w.Scheduler.Collect(ctx, r)
	for i := range reply.Records {
		t := &reply.Records[i]
		w.client.tell(chaos.Record{Kind: chaos.Collected, Task: t.ID, Scheduler: w.name, Worker: t.Worker, Outcome: t.Outcome.String(),
			Exit: t.ExitCode, Reason: t.Reason, Attempts: t.Attempts, Wait: t.Wait, Run: t.Run, Makespan: t.Makespan})
	}
	return reply, err
}
