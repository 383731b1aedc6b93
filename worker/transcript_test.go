package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// Scenarios of a node, with the schedulers' part spoken by the file; see run for the commands.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, "testdata", func(t *testing.T) func(c *transcript.Command) string {
		st := &stage{newNode(t, commands), map[string]*client{}, map[string]*Notice{}, map[string]*mail{}, NewReporter(10 * time.Second)}
		return func(c *transcript.Command) string { return st.run(c, c.Now) }
	})
}

// stage is the node of one transcript and the schedulers that play with it.
type stage struct {
	n       *Node
	clients map[string]*client
	notices map[string]*Notice
	mail    map[string]*mail // by scheduler
	data    Reporter
}

// run carries a command out and describes what came of it, one thing a line.
func (st *stage) run(c *transcript.Command, now time.Duration) string {
	n := st.n
	switch c.Verb {
	case "attach": // scheduler incarnation [resumes=1] [base=]: base is the number that its placements follow
		return st.attach(c, now)
	case "claim": // scheduler task=number ...
		return st.claim(c)
	case "devices": // gpu=(id, id ...): a new node that has these
		var ids []string
		c.Each(func(extra transcript.Pair) { ids = extra.Vals })
		st.n = newNode(c.T, commands, withGPUs(ids...))
		return ""
	case "place", "place-once", "give-up": // scheduler task=(cores, memory, duration, GPUs) ...
		return st.place(c, now)
	case "command": // scheduler program task=brings|names|(names, attempt) ...: each of a core for a second, with its template or by digest
		return st.command(c, now)
	case "finish": // task
		return describe(finished(n, now, c.Word(0)))
	case "lose": // task
		return describe(n.Finished(now, c.Word(0), Result{Outcome: cluster.Lost, ExitCode: -1, Reason: "the engine is gone"}))
	case "fail": // task
		return describe(n.Finished(now, c.Word(0), Result{Outcome: cluster.Failed, ExitCode: 1, Reason: "exit status 1"}))
	case "cancel": // task [scheduler]
		scheduler := ""
		if len(c.Words) > 1 {
			scheduler = c.Word(1)
		}
		actions, ok := n.Cancel(now, cluster.Everybody, c.Word(0), scheduler)
		return fmt.Sprintf("held: %v\n", ok) + describe(actions)
	case "drain", "resume":
		return describe(n.Drain(c.Verb == "drain"))
	case "abandon-queued":
		actions, count := n.AbandonQueued(now, "shutdown")
		return fmt.Sprintf("%d given up\n", count) + describe(actions)
	case "abandon":
		actions, count := n.Abandon(now, "shutdown")
		return fmt.Sprintf("%d given up\n", count) + describe(actions)
	case "notice": // scheduler
		return st.notice(now, c.Word(0))
	case "acknowledge": // scheduler
		n.Acknowledged(st.notices[c.Word(0)])
		return ""
	case "expire":
		return fmt.Sprintf("%d dropped\n", n.Expire(now))
	case "report":
		r := n.Report(now)
		return describeReport(n, &r)
	case "tasks": // answering=(scheduler ...): what none of these waits for
		q := cluster.TaskQuery{Max: 100}
		c.Each(func(answering transcript.Pair) { q.Answering = answering.Vals })
		return describeTasks(n.Tasks(q))
	case "look": // at running tasks that may be past their estimates
		return describe(n.Overran(now)) + fmt.Sprintf("next look at %v\n", n.Due())
	case "probe":
		return fmt.Sprintf("%+v\n", n.Probe(now))
	}
	return st.deliver(c, now)
}

// deliver carries a command out that is about deliveries, and says what follows.
func (st *stage) deliver(c *transcript.Command, now time.Duration) string {
	answers := map[string]cluster.ErrorCode{"ok": 0, "stale": cluster.Stale, "overloaded": cluster.Overloaded,
		"unknown": cluster.UnknownNode, "duplicate": cluster.DuplicateNode}
	var follows string
	switch c.Verb {
	case "tell", "told": // scheduler; told: the pause is over, or how it answered, or lost: it did not
		m := st.mail[c.Word(0)]
		if m == nil {
			m = &mail{n: st.n, rules: NewNotifier(st.n, c.Word(0), 2)}
			st.mail[c.Word(0)] = m
		}
		switch {
		case c.Verb == "tell":
			m.rules.Post()
		case len(c.Words) > 1 && c.Word(1) == "lost":
			m.rules.Failed(now)
		case len(c.Words) > 1:
			m.answered(now, answers[c.Word(1)])
		}
		follows = m.next(now)
	case "retired": // scheduler
		return fmt.Sprintln(st.mail[c.Word(0)].rules.Retired(now))
	case "post", "data": // data: it is time, or how the data service answered, or lost: it did not
		switch {
		case c.Verb == "post":
			st.data.Post()
		case len(c.Words) > 0 && c.Word(0) == "lost":
			st.data.Failed(now)
		case len(c.Words) > 0 && st.data.Answered(now, answers[c.Word(0)]):
			return "over\n"
		}
		follows = st.data.asks(now)
	default:
		return c.Unknown()
	}
	if follows == "" {
		follows = "nothing"
	}
	return follows + "\n"
}

func (st *stage) attach(c *transcript.Command, now time.Duration) string {
	ref := cluster.SchedulerRef{Name: c.Word(0), Address: c.Word(0) + ":1", Incarnation: transcript.Value(c, "incarnation", int64(1)),
		Resumes: transcript.Value(c, "resumes", 0) == 1}
	reply, actions, err := st.n.Attach(now, ref)
	if err != nil {
		return err.Error() + "\n"
	}
	if known := st.clients[ref.Name]; known == nil || known.ref != ref {
		st.clients[ref.Name] = &client{ref: ref, number: transcript.Value(c, "base", int64(0))}
	}
	return fmt.Sprintf("resumes after %d\n", reply.Number) + describe(actions)
}

func (st *stage) claim(c *transcript.Command) string {
	q := &cluster.ClaimRequest{Scheduler: st.clients[c.Word(0)].ref, NodeIncarnation: st.n.cfg.Node.Incarnation}
	c.Each(func(task transcript.Pair) {
		claim := cluster.Claim{TaskID: task.Key}
		task.Scan(c.T, 0, &claim.Number)
		q.Claims = append(q.Claims, claim)
	})
	holdings, err := st.n.Claim(q)
	if err != nil {
		return err.Error() + "\n"
	}
	out := ""
	for i, h := range holdings {
		out += fmt.Sprintf("%s: %v\n", q.Claims[i].TaskID, h)
	}
	return out
}

// place sends placements; once: they must not run twice; what is given up never arrives.
func (st *stage) place(c *transcript.Command, now time.Duration) string {
	from := st.clients[c.Word(0)]
	var batch []cluster.Assignment
	c.Each(func(task transcript.Pair) {
		var cores float64
		var memory int64
		var runs time.Duration
		task.Scan(c.T, 0, &cores)
		task.Scan(c.T, 1, &memory)
		task.Scan(c.T, 2, &runs)
		s := shape(cores, memory, int64(runs/time.Second))
		if len(task.Vals) > 3 {
			var amount float64
			task.Scan(c.T, 3, &amount)
			s.Demand[cluster.FirstExtra] = int64(amount * 1000)
		}
		a := from.place(task.Key, s)
		a.AtMostOnce = c.Verb == "place-once"
		batch = append(batch, a)
	})
	if c.Verb == "give-up" {
		return ""
	}
	return st.enqueue(now, from, batch)
}

func (st *stage) command(c *transcript.Command, now time.Duration) string {
	from := st.clients[c.Word(0)]
	var batch []cluster.Assignment
	c.Each(func(task transcript.Pair) {
		var how string
		task.Scan(c.T, 0, &how)
		a := from.place(task.Key, shape(1, 1, 1))
		bringing(&a, c.Word(1), how == "brings")
		if len(task.Vals) > 1 {
			task.Scan(c.T, 1, &a.Attempt)
		}
		batch = append(batch, a)
	})
	return st.enqueue(now, from, batch)
}

func (st *stage) enqueue(now time.Duration, from *client, batch []cluster.Assignment) string {
	reply, actions, err := st.n.Enqueue(now, from.message(st.n, batch...))
	if err != nil {
		return err.Error() + "\n"
	}
	out := ""
	for _, r := range reply.Refused {
		out += fmt.Sprintf("refuse %s (%d): %v\n", r.TaskID, r.Number, r)
	}
	return out + describe(actions)
}

func (st *stage) notice(now time.Duration, scheduler string) string {
	notice, ok := st.n.Notice(now, scheduler, 10)
	if !ok {
		return "nothing\n"
	}
	st.notices[scheduler] = &notice
	out := ""
	for _, c := range notice.Message.Completions {
		out += fmt.Sprintf("%s (%d) %s wait %v run %v %s", c.TaskID, c.Number, c.Outcome, c.Wait, c.Run, c.Reason)
		out = strings.TrimRight(out, " ") + "\n"
	}
	return out
}

func describe(s Actions) string {
	out := ""
	for _, start := range s.Start {
		out += "start " + start.TaskID + handed(start.Devices) + "\n"
	}
	for _, id := range s.Kill {
		out += "kill " + id + "\n"
	}
	for _, name := range s.Notify {
		out += "notify " + name + "\n"
	}
	if s.Report {
		out += "report\n"
	}
	return out
}

// describeTasks tells of tasks in the order of their ids.
func describeTasks(tasks []cluster.TaskStatus) (text string) {
	slices.SortFunc(tasks, func(a, b cluster.TaskStatus) int { return strings.Compare(a.ID, b.ID) })
	for i := range tasks {
		s := &tasks[i]
		text += fmt.Sprintf("%s %v for %s, attempt %d", s.ID, s.Phase, s.Scheduler, s.Attempt)
		if s.Phase == cluster.Queued {
			text += fmt.Sprintf(", %d ahead", s.Ahead)
		}
		if s.Record != nil {
			text += ", " + s.Record.Outcome.String()
		}
		text += "\n"
	}
	return text
}

func describeReport(n *Node, r *cluster.Report) string {
	d := n.cfg.Dimensions
	out := fmt.Sprintf("report %d: %d running on %s, %d queued, blocked %v, draining %v\n",
		r.Sequence, r.Running, d.Describe(r.RunningDemand), r.Queued, r.Blocked, r.Draining)
	out += fmt.Sprintf("load: %d tasks, %s, %d ms\n", r.Load.Tasks, d.Describe(r.Load.Demand), r.Load.Duration)
	for _, v := range r.Received {
		out += fmt.Sprintf("received from %s/%d: up to %d, %d tasks, %s, %d ms\n",
			v.Scheduler, v.Incarnation, v.Number, v.Received.Tasks, d.Describe(v.Received.Demand), v.Received.Duration)
	}
	return out
}
