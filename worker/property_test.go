package worker

import (
	"fmt"
	"slices"
	"testing"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// universe is a few tasks, so that ids meet again; some never fit, one demands nothing.
var universe = map[string]cluster.Shape{
	"a": shape(1, 1000, 1), "b": shape(2, 50_000, 7), "c": shape(8, 1, 3), "d": shape(0.5, 20_000, 2),
	"e": shape(4, 4, 4), "f": shape(7.999, 65536, 1), "g": {}, "never": shape(8.001, 1, 1), "h": shape(3, 300, 30),
	"i": shape(1, 1, 1), "j": shape(2, 2, 2), "k": shape(6, 60_000, 6),
	"l": shape(1, 1, 1), "m": shape(2, 2, 2), "n": shape(9, 1, 1), "o": shape(1, 1, 1),
	"gpu": onGPUs(shape(1, 1, 1), 1), "two gpus": onGPUs(shape(1, 1, 1), 2), "a part": onGPUs(shape(0.1, 1, 1), 0.3),
	"half": onGPUs(shape(0.1, 1, 1), 0.5), "most": onGPUs(shape(0.1, 1, 1), 0.7), "split": onGPUs(shape(1, 1, 1), 1.5),
	"all gpus": onGPUs(shape(1, 1, 1), 3), "four gpus": onGPUs(shape(1, 1, 1), 4),
}

// programs are those of the tasks that bring their own. One of them is not allowed.
var programs = map[string]string{"l": "gzip", "m": "gzip", "n": "tar", "o": "bad"}

// machine drives a node and the oracle with the same inputs.
type machine struct {
	n *Node
	o *oracle
}

func (m *machine) attach(t *rapid.T, name string) {
	incarnation := int64(1)
	for _, p := range m.o.procs {
		if p.ref.Name == name {
			p.replaced = true
			incarnation = max(incarnation, p.ref.Incarnation+1)
		}
	}
	p := &proc{client: client{ref: cluster.SchedulerRef{Name: name, Incarnation: incarnation}}}
	if reply, _, err := m.n.Attach(0, p.ref); err != nil || reply.Number != 0 {
		t.Fatalf("attach: %+v, %v", reply, err)
	}
	m.o.procs = append(m.o.procs, p)
}

func (m *machine) live(t *rapid.T) *proc {
	live := slices.DeleteFunc(slices.Clone(m.o.procs), func(p *proc) bool { return p.replaced })
	return rapid.SampledFrom(live).Draw(t, "scheduler")
}

// place sends a message with new placements, some of which the scheduler has given up on the way.
func (m *machine) place(t *rapid.T) {
	p := m.live(t)
	var batch []cluster.Assignment
	for range rapid.IntRange(0, 4).Draw(t, "placements") {
		id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "never", "h", "i", "j", "k",
			"l", "m", "n", "o", "gpu", "two gpus", "a part", "half", "most", "split", "all gpus", "four gpus"}).Draw(t, "id")
		a := p.place(id, universe[id])
		if program := programs[id]; program != "" {
			bringing(&a, program, rapid.Bool().Draw(t, "brought along"))
			a.Attempt = rapid.IntRange(1, 3).Draw(t, "attempt")
		}
		p.history = append(p.history, universe[id])
		if rapid.IntRange(0, 9).Draw(t, "arrives") > 0 {
			batch = append(batch, a)
		}
	}
	message := p.message(m.n, batch...)
	p.sent = append(p.sent, message)
	m.send(t, p, message)
}

func (m *machine) repeat(t *rapid.T) {
	p := m.live(t)
	if len(p.sent) == 0 {
		t.Skip("nothing was sent")
	}
	m.send(t, p, rapid.SampledFrom(p.sent).Draw(t, "message"))
}

func (m *machine) send(t *rapid.T, p *proc, message *cluster.Enqueue) {
	reply, actions, err := m.n.Enqueue(0, message)
	if err != nil {
		t.Fatal(err)
	}
	m.o.learn(actions)
	refused, starts := m.o.enqueue(p, message)
	var got []int64
	for _, r := range reply.Refused {
		got = append(got, r.Number)
	}
	if !slices.Equal(got, refused) || (len(refused) > 0 && reply.Report == nil) {
		t.Fatalf("refused %+v, want %v and a report", reply.Refused, refused)
	}
	m.starts(t, actions, starts)
}

func (m *machine) starts(t *rapid.T, actions Actions, want []string) {
	var got []string
	for _, s := range actions.Start {
		got = append(got, s.TaskID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("started %v, want %v", got, want)
	}
}

func (m *machine) finish(t *rapid.T) {
	if len(m.o.running) == 0 {
		t.Skip("nothing runs")
	}
	x := rapid.SampledFrom(m.o.running).Draw(t, "task")
	outcome := rapid.SampledFrom([]cluster.Outcome{cluster.Finished, cluster.Failed, cluster.TimedOut, cluster.Cancelled}).Draw(t, "outcome")
	actions := m.n.Finished(0, x.id, Result{Outcome: outcome})
	m.o.learn(actions)
	m.starts(t, actions, m.o.end(x, outcome))
}

func (m *machine) cancel(t *rapid.T) {
	if len(m.o.queue)+len(m.o.running) == 0 {
		t.Skip("nothing is held")
	}
	x := rapid.SampledFrom(slices.Concat(m.o.queue, m.o.running)).Draw(t, "task")
	actions, ok := m.n.Cancel(0, cluster.Everybody, x.id, "")
	if !ok {
		t.Fatalf("%s is held and cannot be cancelled", x.id)
	}
	if slices.Contains(m.o.running, x) {
		expect(t, "kill", actions.Kill, []string{x.id})
		return
	}
	m.o.learn(actions)
	m.starts(t, actions, m.o.end(x, cluster.Cancelled))
}

// withdraw cancels what one scheduler has of a task. Where another process waits for it that was not replaced, its claim alone
// goes.
func (m *machine) withdraw(t *rapid.T) {
	if len(m.o.queue)+len(m.o.running) == 0 {
		t.Skip("nothing is held")
	}
	x, p := rapid.SampledFrom(slices.Concat(m.o.queue, m.o.running)).Draw(t, "task"), m.live(t)
	own, others := x.claims(p.ref.Name)
	actions, ok := m.n.Cancel(0, cluster.Everybody, x.id, p.ref.Name)
	switch {
	case ok != own:
		t.Fatalf("%s of %s: %v, want %v", x.id, p.ref.Name, ok, own)
	case !own:
	case others:
		m.o.withdraw(x, p.ref.Name)
		expect(t, "nothing ends", len(actions.Kill)+len(actions.Start), 0)
	case slices.Contains(m.o.running, x):
		expect(t, "kill", actions.Kill, []string{x.id})
	default:
		m.o.learn(actions)
		m.starts(t, actions, m.o.end(x, cluster.Cancelled))
	}
}

func (m *machine) abandon(t *rapid.T) {
	given := slices.Clone(m.o.queue)
	_, count := m.n.AbandonQueued(0, "test")
	expect(t, "abandoned", count, len(given))
	m.o.queue = nil // nobody starts in the place of another that is given up as well
	for _, x := range given {
		m.o.end(x, cluster.Lost)
	}
	m.o.draining = true
}

func (m *machine) drain(t *rapid.T) {
	m.o.draining = !m.o.draining
	m.n.Drain(m.o.draining)
}

// notify fetches completions; the scheduler's answer may be lost.
func (m *machine) notify(t *rapid.T) {
	p := m.live(t)
	most := rapid.IntRange(1, 5).Draw(t, "most")
	notice, ok := m.n.Notice(0, p.ref.Name, most)
	want := p.waiting[:min(most, len(p.waiting))]
	if ok != (len(want) > 0) || len(notice.Message.Completions) != len(want) {
		t.Fatalf("%d completions wait, got %+v", len(p.waiting), notice)
	}
	for i, c := range notice.Message.Completions {
		if c.TaskID != want[i].x.id || c.Number != want[i].number || c.Outcome != want[i].x.outcome {
			t.Fatalf("completion %+v, want %s, %d, %v", c, want[i].x.id, want[i].number, want[i].x.outcome)
		}
	}
	if ok && rapid.Bool().Draw(t, "acknowledged") {
		m.n.Acknowledged(&notice)
		m.o.acknowledge(p, len(want))
	}
}

// settle ends and delivers everything; then nothing must be left, and every placement that was
// accepted was answered exactly once.
func (m *machine) settle(t *rapid.T) {
	for len(m.o.running) > 0 {
		x := m.o.running[0]
		actions := m.n.Finished(0, x.id, Result{Outcome: cluster.Finished})
		m.o.learn(actions)
		m.starts(t, actions, m.o.end(x, cluster.Finished))
	}
	for _, p := range m.o.procs {
		if notice, ok := m.n.Notice(0, p.ref.Name, 1<<30); ok && !p.replaced {
			m.n.Acknowledged(&notice)
			m.o.acknowledge(p, len(notice.Message.Completions))
		}
	}
	for r := range m.o.accepted {
		if !r.p.replaced && m.o.delivered[r] != 1 {
			t.Fatalf("placement %d of %s: %d completions", r.number, r.p.ref.Name, m.o.delivered[r])
		}
	}
	if fresh := cluster.NewDevices(&m.n.cfg.Node.Capacity); fmt.Sprint(m.n.ledger.devices) != fmt.Sprint(fresh) {
		t.Fatalf("devices of the idle node: %v", m.n.ledger.devices)
	}
	m.n.Expire(m.n.cfg.Limits.RetainFor)
	stats := m.n.Stats(0)
	if stats.Load != (cluster.Load{}) || stats.Unacknowledged != 0 || m.n.held.oldest != nil || len(m.n.held.byID) != 0 {
		t.Fatalf("left behind: %+v, %d tasks", stats, len(m.n.held.byID))
	}
	for _, s := range m.n.streams {
		expect(t, "active", s.active, 0)
	}
	expect(t, "templates", []int{len(m.n.templates.known), m.n.templates.idle.Len()}, []int{len(m.o.known), len(m.o.known)})
}

// Capacity is never exceeded, the order is first come, first served, every placement is answered
// once, the load is exact at all times and zero in the end, and R is the sum of what was placed.
func TestNodeAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := commandConfig()
		cfg.Node.Slots = rapid.IntRange(1, 5).Draw(t, "slots")
		withGPUs("x", "y", "z")(&cfg)
		n, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{n, &oracle{cfg: cfg, delivered: map[receipt]int{}, accepted: map[receipt]bool{}, known: map[string]bool{},
			got: map[string][]string{}}}
		for i := range 3 {
			m.attach(t, fmt.Sprint("s", i))
		}
		t.Repeat(map[string]func(*rapid.T){
			"place": m.place, "place again": m.place, "repeat": m.repeat, "finish": m.finish, "finish again": m.finish,
			"cancel": m.cancel, "withdraw": m.withdraw, "notify": m.notify, "notify again": m.notify,
			"rare": func(t *rapid.T) {
				switch rapid.IntRange(0, 7).Draw(t, "event") {
				case 0:
					m.attach(t, m.live(t).ref.Name)
				case 1:
					m.abandon(t)
				case 2, 3, 4:
					m.drain(t)
				}
			},
			"": func(t *rapid.T) {
				if err := m.o.agrees(n); err != nil {
					t.Fatal(err)
				}
			},
		})
		m.settle(t)
	})
}
