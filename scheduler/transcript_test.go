package scheduler

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts print as what they should print")

// Every scenario in testdata is a list of verbs, one a line; what the replica answers stands beside it,
// so that a change of behaviour is a reviewable diff. Lines that start with # are comments.
func TestTranscripts(t *testing.T) {
	scenarios, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scenarios) == 0 {
		t.Fatalf("no scenarios in testdata: %v", err)
	}
	for _, path := range scenarios {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			golden := strings.TrimSuffix(path, ".txt") + ".out"
			if *rewrite {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (write it with -rewrite)", err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// stage is a replica with the names that a scenario uses.
type stage struct {
	t     *testing.T
	r     *Replica
	nodes []cluster.Node
	loads map[string]cluster.Load
	own   map[string]int64
	sent  map[string]Dispatch // newest dispatch by task
	out   strings.Builder
}

func play(t *testing.T, scenario string) string {
	cfg := testConfig()
	cfg.DeltaBatch, cfg.SelfCorrection = 3, true
	r, err := New(cfg, paperPolicy(t))
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, r: r, loads: map[string]cluster.Load{}, own: map[string]int64{}, sent: map[string]Dispatch{}}
	for i, line := range strings.Split(strings.TrimSpace(scenario), "\n") {
		fmt.Fprintln(&s.out, line)
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			s.verb(time.Duration(i)*time.Second, words[0], words[1:])
		}
	}
	return s.out.String()
}

func (s *stage) verb(now time.Duration, verb string, args []string) {
	switch verb {
	case "node": // name cores memory: for the next snapshot
		s.nodes = append(s.nodes, nodeOf(args[0], int64(s.number(args[1])), int64(s.number(args[2]))))
	case "load": // name tasks cores duration [own number]
		s.loads[args[0]] = cluster.Load{Tasks: int64(s.number(args[1])), Demand: cluster.Resources{int64(s.number(args[2]) * 1000)}, Duration: int64(s.number(args[3]))}
		s.own[args[0]] = int64(s.number(args[4]))
	case "gone": // name: not in the next snapshot
		for i := range s.nodes {
			if s.nodes[i].Name == args[0] {
				s.nodes = append(s.nodes[:i:i], s.nodes[i+1:]...)
				break
			}
		}
	case "push": // version
		s.push(now, int64(s.number(args[0])))
	case "submit": // id cores memory duration
		ready, refusal := s.r.Submit(now, "client", request(args[0], s.number(args[1]), int64(s.number(args[2])), int64(s.number(args[3]))))
		if refusal != nil {
			fmt.Fprintf(&s.out, "  refused: %v\n", refusal)
		}
		s.print(ready)
	case "ack": // id
		s.print(s.r.Acknowledged(now, []Dispatch{s.sent[args[0]]}, &cluster.EnqueueReply{}))
	case "refuse": // id
		d := s.sent[args[0]]
		s.print(s.r.Acknowledged(now, []Dispatch{d}, &cluster.EnqueueReply{Refused: []cluster.Refusal{
			{TaskID: args[0], Number: d.Assignment.Number, Code: cluster.NeverFits, Message: "no room"}}}))
	case "end": // id outcome
		outcome, _ := cluster.ParseOutcome(args[1])
		s.print(finish(s.t, s.r, now, s.sent[args[0]], outcome))
	case "down": // node attempted
		index := s.r.nodes.byName[args[0]]
		s.print(s.r.NodeDown(now, index, s.r.Node(index).Incarnation, int64(s.number(args[1]))))
	case "attached": // node incarnation number
		index := s.r.nodes.byName[args[0]]
		s.print(s.r.Attached(now, index, args[0], &cluster.AttachReply{Incarnation: int64(s.number(args[1])), Number: int64(s.number(args[2]))}))
	case "cancel": // id
		ready, found := s.r.Cancel(now, args[0])
		fmt.Fprintf(&s.out, "  found: %v\n", found)
		s.print(ready)
	case "view":
		for _, n := range s.r.Status(now).Nodes {
			fmt.Fprintf(&s.out, "  %s: %d tasks, %g cores, %d ms\n", n.Node.Name, n.Load.Tasks, float64(n.Load.Demand[cluster.Cores])/1000, n.Load.Duration)
		}
	case "tick", "settle":
		if verb == "tick" {
			s.print(s.r.Tick(now))
		} else {
			s.print(s.r.Settle(now))
		}
	default:
		s.t.Fatalf("no verb is called %q", verb)
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
	ready, err := s.r.Push(now, snapshot)
	if err != nil {
		fmt.Fprintf(&s.out, "  error: %v\n", err)
	}
	s.print(ready)
}

func (s *stage) print(ready *Ready) {
	for _, d := range ready.Send {
		if d.Assignment.TaskID == "" {
			fmt.Fprintf(&s.out, "  heal %s up to %d\n", s.r.Node(d.Node).Name, d.Assignment.Number)
			continue
		}
		s.sent[d.Assignment.TaskID] = d
		fmt.Fprintf(&s.out, "  send %s to %s as %d, P = %d tasks, %d ms\n", d.Assignment.TaskID, s.r.Node(d.Node).Name, d.Assignment.Number, d.Placed.Tasks, d.Placed.Duration)
	}
	for _, f := range ready.Flush {
		fmt.Fprintf(&s.out, "  flush %d decisions:", f.Decisions)
		for _, p := range f.Placed {
			fmt.Fprintf(&s.out, " %s@%d", p.Node, p.Number)
		}
		fmt.Fprintln(&s.out)
	}
	for _, c := range ready.Cancel {
		fmt.Fprintf(&s.out, "  cancel %s at %s\n", c.TaskID, s.r.Node(c.Node).Name)
	}
	for _, i := range ready.Connect {
		fmt.Fprintf(&s.out, "  connect %s\n", s.r.Node(i).Name)
	}
	if len(ready.Drop) > 0 {
		fmt.Fprintf(&s.out, "  drop %d\n", len(ready.Drop))
	}
	if ready.Wake {
		records, _, _ := s.r.Collect("client", 0, 1000)
		last := records[len(records)-1]
		fmt.Fprintf(&s.out, "  ended %s: %v on %s after %d attempts, makespan %v: %s\n", last.ID, last.Outcome, last.Worker, last.Attempts, last.Makespan, last.Reason)
	}
}

func (s *stage) number(word string) float64 {
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}
