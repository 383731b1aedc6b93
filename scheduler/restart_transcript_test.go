package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// The scenarios in testdata/restarts are about a replica that keeps what it must: it ends at some point of a task's life, and the
// next process goes on from what is on the disk.
func TestRestartTranscripts(t *testing.T) {
	transcript.Play(t, "testdata/restarts", func(t *testing.T) func(c *transcript.Command) string {
		w := &reborn{wire: &wire{t: t}, disk: disk{}, incarnation: testIncarnation}
		w.start(0)
		w.push(0)
		w.out.Reset()
		return func(c *transcript.Command) string {
			w.out.Reset()
			w.restartVerb(c)
			return w.out.String()
		}
	})
}

// reborn is a wire whose replica ends and starts again.
type reborn struct {
	*wire
	disk        disk
	incarnation int64
	began       time.Duration
	version     int64
	cursor      int64
}

// start starts the next process at a moment of the scenario. Its clock goes on from there.
func (w *reborn) start(at time.Duration) {
	w.incarnation++
	w.began = at
	w.r = restored(w.t, keeping(testConfig(), w.incarnation, at), firstCandidate{}, w.disk)
	w.disk.sync(w.r)
	w.shared = &Deliveries{Replica: w.r, Scheduler: cluster.SchedulerRef{Name: "s1", Incarnation: w.incarnation, Resumes: true}, MaxBatch: 4,
		Grace: 2 * time.Second}
	w.streams = nil
	w.perform(0, w.r.Tick(0))
}

func (w *reborn) push(now time.Duration) {
	w.version++
	s := snapshotOf(w.version, []cluster.Node{nodeOf("a", 100, 1<<20), nodeOf("b", 100, 1<<20)}, make([]cluster.Load, 2))
	s.ReceiverIncarnation = w.incarnation
	actions, err := w.r.Push(now, s)
	if err != nil {
		fmt.Fprintf(&w.out, "error: %v\n", err)
	}
	w.perform(now, actions)
}

func (w *reborn) restartVerb(c *transcript.Command) {
	now := c.Now - w.began
	switch c.Verb {
	case "crash": // what is not durable is lost
		w.start(c.Now)
		w.moves(0)
		return
	case "sync":
		w.disk.sync(w.r)
	case "push":
		w.push(now)
	case "tick":
		w.perform(now, w.r.Tick(now))
	case "run": // id: of a job whose tasks are tried twice
		t := programOf("x")
		spec := commandOf("j", 0, t, t.Digest())
		spec.ID = c.Word(0)
		actions, _ := w.r.SubmitJob(now, &cluster.Job{ID: "j", Retries: 1}, "client", spec)
		w.perform(now, actions)
	case "told": // node held|never|gone ...
		v := w.streams[w.r.nodes.byName[c.Word(0)]].Told(now, holdings(c))
		for _, call := range v.Actions.Cancel {
			fmt.Fprintf(&w.out, "cancel %s at %s\n", call.TaskID, c.Word(0))
		}
		w.verdict(now, c.Word(0), v)
	case "end": // id number node outcome
		outcome, _ := cluster.ParseOutcome(c.Word(3))
		var number int64
		fmt.Sscan(c.Word(1), &number) // a scenario that is wrong shows it
		actions, _ := w.r.Completed(now, &cluster.CompletionNotice{Node: c.Word(2), NodeIncarnation: 1, SchedulerIncarnation: w.incarnation,
			Completions: []cluster.Completion{{TaskID: c.Word(0), Number: number, Outcome: outcome, Run: time.Second}}})
		actions.Wake = false // collect tells
		w.perform(now, actions)
	case "cancel":
		actions, found := w.r.Cancel(now, cluster.Everybody, c.Word(0))
		fmt.Fprintf(&w.out, "found: %v\n", found)
		w.perform(now, actions)
	case "collect":
		w.collect()
	case "tasks":
		for _, s := range w.r.Query(cluster.TaskQuery{Max: 10}) {
			fmt.Fprintf(&w.out, "%s: %v %s\n", s.ID, s.Phase, s.Node)
		}
		for _, j := range w.r.Jobs(&cluster.JobQuery{Max: 10}) {
			fmt.Fprintf(&w.out, "job %s: %d open, %d retried\n", j.ID, j.Open(), j.Retried)
		}
	default:
		shifted := *c
		shifted.Now = now
		w.verb(&shifted)
		return
	}
	w.moves(now)
}

func holdings(c *transcript.Command) (list []cluster.Holding) {
	for _, word := range c.Words[1:] {
		for h := cluster.Held; h <= cluster.Gone; h++ {
			if h.String() == word {
				list = append(list, h)
			}
		}
	}
	return list
}

// collect is a client's that acknowledges what it got before.
func (w *reborn) collect() {
	records, cursor, err := w.r.Collect(nil, &cluster.CollectRequest{Client: "client", After: w.cursor, Incarnation: w.r.Memory(), Max: 10})
	if err != nil {
		fmt.Fprintf(&w.out, "error: %v\n", err)
		return
	}
	w.cursor = cursor
	for _, r := range records {
		line := fmt.Sprintf("%s: %v on %s after %d attempts %s", r.ID, r.Outcome, r.Worker, r.Attempts, r.Reason)
		fmt.Fprintln(&w.out, strings.TrimRight(line, " "))
	}
}
