package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// Scenarios of a replica, with the worker's and the data service's part spoken by the file; see verb for the commands.
func TestTranscripts(t *testing.T) {
	transcript.Play(t, "testdata", func(t *testing.T) func(c *transcript.Command) string {
		cfg := testConfig()
		cfg.DeltaBatch, cfg.SelfCorrection = 3, true
		r, err := New(cfg, paperPolicy(t))
		if err != nil {
			t.Fatal(err)
		}
		s := &stage{t: t, r: r, loads: map[string]cluster.Load{}, own: map[string]int64{}, sent: map[string]Dispatch{}}
		return func(c *transcript.Command) string {
			s.out.Reset()
			s.verb(c, c.Now)
			return s.out.String()
		}
	})
}

// stage is a replica with the names that a scenario uses.
type stage struct {
	t     *testing.T
	r     *Replica
	nodes []cluster.Node
	loads map[string]cluster.Load
	own   map[string]int64
	sent  map[string]Dispatch // newest dispatch by task
	job   cluster.Job         // of the commands to come
	out   strings.Builder
}

func (s *stage) verb(c *transcript.Command, now time.Duration) {
	switch c.Verb {
	case "node": // name cores memory: for the next snapshot
		s.nodes = append(s.nodes, nodeOf(c.Word(0), transcript.Value(c, "cores", int64(0)), transcript.Value(c, "memory", int64(0))))
	case "load": // name tasks cores ms own: what the next snapshot says about it, and the replica's number that this includes
		s.loads[c.Word(0)] = cluster.Load{Tasks: transcript.Value(c, "tasks", int64(0)), Duration: transcript.Value(c, "ms", int64(0)),
			Demand: cluster.Resources{int64(transcript.Value(c, "cores", 0.0) * 1000)}}
		s.own[c.Word(0)] = transcript.Value(c, "own", int64(0))
	case "gone": // name: not in the next snapshot
		for i := range s.nodes {
			if s.nodes[i].Name == c.Word(0) {
				s.nodes = append(s.nodes[:i:i], s.nodes[i+1:]...)
				break
			}
		}
	case "push": // version
		s.push(now, transcript.Value(c, "version", int64(0)))
	case "submit": // id cores memory ms [once]
		spec := request(c.Word(0), transcript.Value(c, "cores", 0.0), transcript.Value(c, "memory", int64(0)),
			transcript.Value(c, "ms", int64(0)))
		spec.AtMostOnce = len(c.Words) > 1
		actions, refusal := s.r.Submit(now, "client", spec)
		if refusal != nil {
			fmt.Fprintf(&s.out, "refused: %v\n", refusal)
		}
		s.print(actions)
	case "ack": // id
		s.print(s.r.Acknowledged(now, []Dispatch{s.sent[c.Word(0)]}, &cluster.EnqueueReply{}))
	case "refuse": // id
		d := s.sent[c.Word(0)]
		s.print(s.r.Acknowledged(now, []Dispatch{d}, &cluster.EnqueueReply{Refused: []cluster.Refusal{
			{TaskID: c.Word(0), Number: d.Assignment.Number, Code: cluster.NeverFits, Message: "no room"}}}))
	case "end": // id outcome
		outcome, _ := cluster.ParseOutcome(c.Word(1))
		s.print(finish(s.t, s.r, now, s.sent[c.Word(0)], outcome))
	case "down": // node attempted
		index := s.r.nodes.byName[c.Word(0)]
		s.print(s.r.NodeDown(now, index, s.r.Node(index).Incarnation, transcript.Value(c, "attempted", int64(0))))
	case "attached": // node incarnation number tasks [draining]
		index := s.r.nodes.byName[c.Word(0)]
		s.print(s.r.Attached(now, index, c.Word(0), &cluster.AttachReply{
			Incarnation: transcript.Value(c, "incarnation", int64(0)), Number: transcript.Value(c, "number", int64(0)),
			Report: cluster.Report{Draining: len(c.Words) > 1, Load: cluster.Load{Tasks: transcript.Value(c, "tasks", int64(0))}}}))
	case "cancel": // id
		actions, found := s.r.Cancel(now, cluster.Everybody, c.Word(0))
		fmt.Fprintf(&s.out, "found: %v\n", found)
		s.print(actions)
	case "view":
		for _, n := range s.r.Status(now).Nodes {
			fmt.Fprintf(&s.out, "%s: %d tasks, %g cores, %d ms\n", n.Node.Name, n.Load.Tasks, float64(n.Load.Demand[cluster.Cores])/1000,
				n.Load.Duration)
		}
	case "tick":
		s.print(s.r.Tick(now))
	case "settle":
		s.print(s.r.Settle(now))
	default:
		s.jobVerb(c, now)
	}
}

func (s *stage) push(now time.Duration, version int64) {
	var loads []cluster.Load
	for _, n := range s.nodes {
		loads = append(loads, s.loads[n.Name])
	}
	snapshot := snapshotOf(version, append([]cluster.Node(nil), s.nodes...), loads)
	for i, n := range s.nodes {
		snapshot.OwnNumber[i] = s.own[n.Name]
	}
	actions, err := s.r.Push(now, snapshot)
	if err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
	}
	s.print(actions)
}

func (s *stage) print(actions *Actions) {
	for _, d := range actions.Send {
		if d.Assignment.TaskID == "" {
			fmt.Fprintf(&s.out, "heal %s up to %d\n", s.r.Node(d.Node).Name, d.Assignment.Number)
			continue
		}
		s.sent[d.Assignment.TaskID] = d
		fmt.Fprintf(&s.out, "send %s to %s as %d, P = %d tasks, %d ms\n", d.Assignment.TaskID, s.r.Node(d.Node).Name, d.Assignment.Number,
			d.Placed.Tasks, d.Placed.Duration)
	}
	for _, f := range actions.Flush {
		fmt.Fprintf(&s.out, "flush %d decisions:", f.Decisions)
		for _, p := range f.Placed {
			fmt.Fprintf(&s.out, " %s@%d", p.Node, p.Number)
		}
		fmt.Fprintln(&s.out)
	}
	for _, c := range actions.Cancel {
		fmt.Fprintf(&s.out, "cancel %s at %s\n", c.TaskID, s.r.Node(c.Node).Name)
	}
	for _, i := range actions.Connect {
		fmt.Fprintf(&s.out, "connect %s\n", s.r.Node(i).Name)
	}
	for _, i := range actions.Ask {
		fmt.Fprintf(&s.out, "ask %s\n", s.r.Node(i).Name)
	}
	if len(actions.Drop) > 0 {
		fmt.Fprintf(&s.out, "drop %d\n", len(actions.Drop))
	}
	if actions.Wake {
		records, _, _ := s.r.Collect(nil, &cluster.CollectRequest{Client: "client", Max: 1000})
		if len(records) == 0 {
			return // nobody collects it
		}
		last := records[len(records)-1]
		fmt.Fprintf(&s.out, "ended %s: %v on %s after %d attempts, makespan %v", last.ID, last.Outcome, last.Worker, last.Attempts, last.Makespan)
		if last.Reason != "" {
			fmt.Fprintf(&s.out, ": %s", last.Reason)
		}
		fmt.Fprintln(&s.out)
	}
}
