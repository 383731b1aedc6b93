package datastore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/datastore"
	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// Scenarios of the data service, with the workers' and schedulers' part spoken by the file; see run for the
// commands. A push begins where it is printed, and ends with the answer that a command gives to it.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, "testdata", func(t *testing.T) func(c *transcript.Command) string {
		st := &stage{t: t}
		st.start(1)
		return func(c *transcript.Command) string {
			st.out.Reset()
			st.run(c, c.Now)
			return st.out.String()
		}
	})
}

// stage is the data service of one scenario: b = 10, a staleness bound of a minute, a node timeout of ten seconds.
type stage struct {
	t     *testing.T
	s     *datastore.Store
	way   map[string]datastore.Push // the push under way, by scheduler
	asked int64                     // by the last settle
	heard time.Duration             // up to when somebody was
	out   strings.Builder
}

// start starts a process of the data service that knows nothing.
func (st *stage) start(incarnation int64) {
	s, err := datastore.New(datastore.Config{Incarnation: incarnation, Batch: 10, MaxStaleness: time.Minute, NodeTimeout: 10 * time.Second})
	if err != nil {
		st.t.Fatal(err)
	}
	st.s, st.way, st.heard = s, map[string]datastore.Push{}, 0
}

// run carries a command out. Processes have incarnation 1 unless it says otherwise. Until it comes, somebody is heard all
// the time, but for the time that nobody-heard takes.
func (st *stage) run(c *transcript.Command, now time.Duration) {
	if c.Verb != "nobody-heard" {
		hum(st.s, st.heard, now)
	}
	st.heard = now
	incarnation := transcript.Value(c, "incarnation", int64(1))
	switch c.Verb {
	case "worker": // name address incarnation cores: it registers
		n := workerNode(c.Word(0), transcript.Value(c, "address", c.Word(0)+":1"), incarnation)
		n.Capacity[cluster.Cores] = transcript.Value(c, "cores", int64(4)) * 1000
		st.fails(st.s.RegisterNode(now, n))
	case "worker-leaves": // name incarnation
		st.s.UnregisterNode(c.Word(0), incarnation)
	case "scheduler": // name incarnation: it registers
		snapshot, err := st.s.RegisterScheduler(cluster.SchedulerRef{Name: c.Word(0), Address: c.Word(0) + ":1", Incarnation: incarnation})
		if !st.fails(err) {
			st.print("gets", &snapshot)
		}
	case "scheduler-leaves": // name incarnation
		fmt.Fprintf(&st.out, "was registered: %v\n", st.s.UnregisterScheduler(c.Word(0), incarnation))
	case "check": // scheduler incarnation
		st.fails(st.s.CheckScheduler(now, c.Word(0), incarnation))
	case "flush": // scheduler incarnation decisions worker=(number, tasks, ms, incarnation of the worker) ...
		d := delta(c.Word(0), incarnation, transcript.Value(c, "decisions", int64(0)))
		st.loads(c, func(worker string, number, process int64, l cluster.Load) {
			d.Placed = append(d.Placed, cluster.Placed{Node: worker, NodeIncarnation: process, Number: number, Placed: l})
		})
		actions, err := st.s.Flush(now, d)
		st.fails(err)
		st.perform(actions)
	case "report": // worker incarnation sequence tasks ms [draining], and what it received: scheduler=(number, tasks, ms, incarnation) ...
		r := cluster.Report{Node: c.Word(0), Incarnation: incarnation, Sequence: transcript.Value(c, "sequence", int64(0)),
			Draining: len(c.Words) > 1,
			Load:     cluster.Load{Tasks: transcript.Value(c, "tasks", int64(0)), Duration: transcript.Value(c, "ms", int64(0))}}
		st.loads(c, func(scheduler string, number, process int64, l cluster.Load) {
			r.Received = append(r.Received, cluster.Received{Scheduler: scheduler, Incarnation: process, Number: number, Received: l})
		})
		st.fails(st.s.Report(now, &r))
	case "nobody-heard":
	case "tick":
		st.perform(st.s.Tick(now))
	case "settle":
		actions, asked := st.s.Settle(now)
		st.asked = asked
		st.perform(actions)
	case "settled": // what the last settle asked for
		fmt.Fprintln(&st.out, st.s.Settled(st.asked))
	case "taken", "gap", "overloaded", "stale", "no-answer", "refused": // scheduler ...: what becomes of the pushes to them
		for _, name := range c.Words {
			st.answer(c, now, name)
		}
	case "restart": // incarnation
		st.start(incarnation)
	case "status":
		for _, n := range st.s.Status(now).Nodes {
			fmt.Fprintf(&st.out, "%s: %d tasks, %d ms\n", n.Node.Name, n.Load.Tasks, n.Load.Duration)
		}
		fmt.Fprintf(&st.out, "%d decisions, %d schedulers, %d pushes skipped\n", st.s.Decisions(), len(st.s.Schedulers()), st.s.Skipped())
	default:
		c.Unknown()
	}
}

// loads reads the arguments name=(number, tasks, ms[, incarnation]).
func (st *stage) loads(c *transcript.Command, do func(name string, number, incarnation int64, l cluster.Load)) {
	for _, p := range c.Pairs {
		if len(p.Vals) > 1 {
			v := transcript.Value(c, p.Key, []int64(nil))
			if len(v) == 3 {
				v = append(v, 1)
			}
			do(p.Key, v[0], v[3], cluster.Load{Tasks: v[1], Duration: v[2]})
		}
	}
}

func (st *stage) answer(c *transcript.Command, now time.Duration, scheduler string) {
	p, ok := st.way[scheduler]
	if !ok {
		c.Fatalf("no push to %s is under way", scheduler)
	}
	delete(st.way, scheduler)
	codes := map[string]cluster.ErrorCode{"taken": 0, "gap": cluster.Gap, "overloaded": cluster.Overloaded, "stale": cluster.Stale}
	if code, answered := codes[c.Verb]; answered {
		st.perform(st.s.Answered(now, p, code))
	} else {
		st.perform(st.s.Failed(now, p, c.Verb == "refused"))
	}
}

func (st *stage) perform(actions datastore.Actions) {
	if actions.Failing {
		fmt.Fprintln(&st.out, "begins to fail")
	}
	if actions.Gone {
		fmt.Fprintln(&st.out, "gone")
	}
	for _, p := range actions.Push {
		st.way[p.To.Name] = p
		snapshot := fill(st.t, st.s, p)
		st.print("push to "+p.To.Name+":", &snapshot)
	}
}

func (st *stage) print(what string, s *cluster.Snapshot) {
	fmt.Fprintf(&st.out, "%s ", what)
	if s.Roster != nil {
		fmt.Fprint(&st.out, "everything, of")
		for _, n := range s.Roster.Nodes {
			fmt.Fprintf(&st.out, " %s", n.Name)
			if n.Draining {
				fmt.Fprint(&st.out, " (draining)")
			}
		}
	} else {
		fmt.Fprint(&st.out, "what changed")
	}
	for i := range s.Node {
		fmt.Fprintf(&st.out, "; worker %d: %d tasks, %d ms, own %d", s.Node[i], s.Load[i].Tasks, s.Load[i].Duration, s.OwnNumber[i])
	}
	fmt.Fprintln(&st.out)
}

// fails prints an error and reports whether there is one.
func (st *stage) fails(err error) bool {
	var e *cluster.Error
	if errors.As(err, &e) {
		fmt.Fprintf(&st.out, "error: %v\n", e)
	}
	return err != nil
}
