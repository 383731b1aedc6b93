package scheduler

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/transcript"
)

// programOf is a template that runs a program by this name, which is all that sets it apart.
func programOf(name string) *cluster.Template { return &cluster.Template{Argv: []string{name}} }

// jobVerb is what a scenario says of jobs.
func (s *stage) jobVerb(c *transcript.Command, now time.Duration) {
	switch c.Verb {
	case "job": // id retries crash_limit max_fails: of the tasks that follow
		s.job = cluster.Job{ID: c.Word(0), Retries: transcript.Value(c, "retries", 0), CrashLimit: transcript.Value(c, "crash_limit", 0),
			MaxFails: transcript.Value(c, "max_fails", int64(0))}
	case "run": // program index ... [bare: the template does not come along]
		t := programOf(c.Word(0))
		for _, word := range c.Words[1:] {
			if word == "bare" {
				continue
			}
			index, _ := strconv.ParseInt(word, 10, 64)
			spec := commandOf(s.job.ID, index, t, t.Digest())
			spec.Command.Entries = []string{"entry " + word}
			if c.Words[len(c.Words)-1] == "bare" {
				spec.Command.Template = nil
			}
			actions, refusal := s.r.SubmitJob(now, &s.job, "", spec)
			if refusal != nil {
				fmt.Fprintf(&s.out, "refused: %v\n", refusal)
			}
			s.print(actions)
		}
	case "not-allowed": // id: its worker does not allow the command
		d := s.sent[c.Word(0)]
		s.print(s.r.Acknowledged(now, []Dispatch{d}, &cluster.EnqueueReply{Refused: []cluster.Refusal{
			{TaskID: c.Word(0), Number: d.Assignment.Number, Code: cluster.NotAllowed, Message: "set process.allow"}}}))
	case "cancel-job":
		actions, tasks := s.r.CancelJob(now, cluster.Everybody, c.Word(0))
		fmt.Fprintf(&s.out, "%d open\n", tasks)
		s.print(actions)
	case "retry-job":
		actions, tasks, err := s.r.RetryJob(now, cluster.Everybody, c.Word(0))
		fmt.Fprintf(&s.out, "%d again, error %v\n", tasks, err)
		s.print(actions)
	case "forget-job":
		known, err := s.r.ForgetJob(cluster.Everybody, c.Word(0))
		fmt.Fprintf(&s.out, "known %v, error %v\n", known, err)
	case "jobs":
		for _, j := range s.r.Jobs(&cluster.JobQuery{Max: 10}) {
			fmt.Fprintf(&s.out, "%s: %d accepted, %d open, outcomes %v, %d retried, ended %v\n", j.ID, j.Accepted, j.Open(), j.Outcomes[1:],
				j.Retried, j.Ended)
		}
		fmt.Fprintf(&s.out, "%d pending, %d templates\n", s.r.Pending(), len(s.r.templates.byDigest))
	case "tasks": // job [bad]
		for _, t := range s.r.JobTasks(&cluster.JobTaskQuery{Job: c.Word(0), Max: 10, Unsuccessful: len(c.Words) > 1}) {
			fmt.Fprintf(&s.out, "%d %s %v at %s, attempt %d, exit %d, %q %s\n", t.Index, t.ID, t.Outcome, t.Worker, t.Attempts, t.ExitCode,
				t.Entries, t.Reason)
		}
	default:
		c.Unknown()
	}
}

// firstFeasible places everything on the first node that could run it.
type firstFeasible struct{ firstCandidate }

func (firstFeasible) Submit(_ time.Duration, t *cluster.Task, v *View) (d Decision) {
	for _, i := range v.Candidates() {
		if len(d.Place) == 0 && v.Feasible(int(i), t) {
			d.Place = append(d.Place, Placement{Task: t, Node: int(i)})
		}
	}
	return d
}

// The scenarios in testdata/commands are about the templates of commands: which message brings one along, and what comes
// of workers that do not know or allow one.
func TestCommandTranscripts(t *testing.T) {
	transcript.Play(t, "testdata/commands", func(t *testing.T) func(c *transcript.Command) string {
		w := newWire(t, firstFeasible{})
		return func(c *transcript.Command) string {
			w.out.Reset()
			w.pass(c.Now)
			w.verb(c)
			return w.out.String()
		}
	})
}

// commandVerb is what a scenario says of commands.
func (w *wire) commandVerb(c *transcript.Command) {
	switch c.Verb {
	case "run": // program task ...
		for _, id := range c.Words[1:] {
			t := programOf(c.Words[0])
			spec := &cluster.TaskSpec{ID: id, Command: &cluster.Command{Digest: t.Digest(), Template: t}}
			actions, refusal := w.r.Submit(c.Now, "client", spec)
			if refusal != nil {
				fmt.Fprintf(&w.out, "refused: %v\n", refusal)
			}
			w.perform(c.Now, actions)
		}
	case "unknown", "not-allowed", "queue-full": // node number ...: refuses these of the message, and takes the others
		code := map[string]cluster.RefusalCode{"unknown": cluster.UnknownTemplate, "not-allowed": cluster.NotAllowed,
			"queue-full": cluster.QueueFull}[c.Verb]
		reply := &cluster.EnqueueReply{}
		for _, number := range c.Words[1:] {
			n, _ := strconv.ParseInt(number, 10, 64)
			reply.Refused = append(reply.Refused, cluster.Refusal{Number: n, Code: code, Message: "because " + strings.ToUpper(c.Verb)})
		}
		w.verdict(c.Now, c.Word(0), w.streams[w.r.nodes.byName[c.Word(0)]].Enqueued(c.Now, reply))
	default:
		c.Unknown()
	}
}
