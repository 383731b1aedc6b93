package worker

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

var rewrite = flag.Bool("rewrite", false, "write what the node does into testdata/*.txt")

// A transcript is a scenario with what the node did beside it: lines that start with "> " are
// commands, lines that start with "#" are comments, the others are the outcome of the command above.
//
//	> 12.5 place s1 a:2/1024/30 b:14/1/1      at 12.5 s: a (2 cores, 1024 MiB, 30 s) and b
//
// See run for the commands.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, string(want))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("%s: %s\n(run go test ./worker -rewrite and look at the difference)", file, firstDifference(got, string(want)))
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is %q, was %q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, were %d", len(g), len(w))
}

// stage is the node of one transcript and the schedulers that play with it.
type stage struct {
	n       *Node
	clients map[string]*client
	notices map[string]*Notice
}

func replay(t *testing.T, text string) string {
	st := &stage{newNode(t), map[string]*client{}, map[string]*Notice{}}
	var out strings.Builder
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "> ")
		if isCommand || strings.HasPrefix(line, "#") || line == "\n" {
			out.WriteString(line)
		}
		if isCommand {
			fields := strings.Fields(command)
			seconds, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				t.Fatalf("%q: %v", command, err)
			}
			out.WriteString(st.run(time.Duration(seconds*float64(time.Second)), fields[1], fields[2:]))
		}
	}
	return out.String()
}

// run carries a command out and describes what came of it, one thing a line.
func (st *stage) run(now time.Duration, verb string, args []string) string {
	n := st.n
	switch verb {
	case "attach": // scheduler incarnation
		return st.attach(now, args)
	case "place", "give-up": // scheduler task ... (given up: they never arrive)
		return st.place(now, verb == "place", args)
	case "finish": // task
		return describe(finished(n, now, args[0]))
	case "fail": // task
		return describe(n.Finished(now, args[0], Result{Outcome: cluster.Failed, ExitCode: 1, Reason: "exit status 1"}))
	case "cancel": // task
		step, ok := n.Cancel(now, args[0])
		return fmt.Sprintf("held: %v\n", ok) + describe(step)
	case "drain", "resume":
		return describe(n.Drain(verb == "drain"))
	case "abandon-queued":
		step, count := n.AbandonQueued(now, "shutdown")
		return fmt.Sprintf("%d given up\n", count) + describe(step)
	case "abandon":
		step, count := n.Abandon(now, "shutdown")
		return fmt.Sprintf("%d given up\n", count) + describe(step)
	case "notice": // scheduler
		return st.notice(now, args[0])
	case "acknowledge": // scheduler
		n.Acknowledged(st.notices[args[0]])
		return ""
	case "expire":
		return fmt.Sprintf("%d dropped\n", n.Expire(now))
	case "report":
		r := n.Report(now)
		return describeReport(n, &r)
	case "probe":
		return fmt.Sprintf("%+v\n", n.Probe())
	}
	return "unknown command\n"
}

func (st *stage) attach(now time.Duration, args []string) string {
	incarnation, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err.Error() + "\n"
	}
	ref := cluster.SchedulerRef{Name: args[0], Address: args[0] + ":1", Incarnation: incarnation}
	reply, err := st.n.Attach(now, ref)
	if err != nil {
		return err.Error() + "\n"
	}
	if c := st.clients[ref.Name]; c == nil || c.ref != ref {
		st.clients[ref.Name] = &client{ref: ref}
	}
	return fmt.Sprintf("resumes after %d\n", reply.Number)
}

func (st *stage) place(now time.Duration, arrives bool, args []string) string {
	c := st.clients[args[0]]
	var batch []cluster.Assignment
	for _, arg := range args[1:] {
		id, figures, _ := strings.Cut(arg, ":")
		var s cluster.Shape
		var cores, seconds float64
		if _, err := fmt.Sscanf(figures, "%f/%d/%f", &cores, &s.Demand[cluster.Memory], &seconds); err != nil {
			return err.Error() + "\n"
		}
		s.Demand[cluster.Cores], s.Duration = int64(cores*1000), int64(seconds*1000)
		batch = append(batch, c.place(id, s))
	}
	if !arrives {
		return ""
	}
	reply, step, err := st.n.Enqueue(now, c.message(st.n, batch...))
	if err != nil {
		return err.Error() + "\n"
	}
	out := ""
	for _, r := range reply.Refused {
		out += fmt.Sprintf("refuse %s (%d): %v\n", r.TaskID, r.Number, r)
	}
	return out + describe(step)
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

func describe(s Step) string {
	out := ""
	for _, start := range s.Start {
		out += "start " + start.TaskID + "\n"
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
