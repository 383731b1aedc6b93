package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
	"dodoor/job"
)

// attendance is a job whose ends somebody waits for: it counts, shows how far it is, and has printed what tasks print.
type attendance struct {
	flags          *printFlags
	plan           job.Plan
	job            cluster.Job
	stdout, stderr io.Writer
	start          time.Time
	bar            *progress.Line
	printer        *client.Printer

	mu       sync.Mutex
	outcomes [cluster.Lost + 1]int64
	code     int      // of the last task
	bad      []string // the first tasks that did not finish
	unread   int64    // tasks whose output could not be read whole
}

// mostBad is how many failed tasks are told of one by one.
const mostBad = 10

// attend submits a job and waits for its tasks' ends; the result is the exit code.
func (f *jobFlags) attend(ctx context.Context, c *client.Cluster, s *client.Submission, by interruptions, stdout io.Writer) int {
	a := &attendance{flags: &f.printing, plan: s.Plan, job: s.Job, stdout: stdout, stderr: f.stderr, start: time.Now()}
	entry, index := of(s.Plan)
	sink, err := f.printing.sink(stdout, f.stderr, entry, index)
	if err != nil {
		return f.fail(exitFailed, err)
	}
	if !f.printing.quiet {
		a.bar = progress.New(os.Stderr, int(s.Plan.Len()))
	}
	reading, cut := context.WithCancel(context.Background())
	defer cut()
	go func() {
		select {
		case <-by.hurry:
			cut()
		case <-reading.Done():
		}
	}()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if f.printing.out == "" {
		defer whenUnread(stdout, func() { giveUp(syscall.EPIPE) })()
	}
	a.printer = c.NewPrinter(reading, a.through(sink), f.printing.keep, a.trouble, giveUp)
	s.Ended = a.ended
	over := a.show()
	err = c.Submit(ctx, s, client.Interrupts{Cancel: by.cancel, Hurry: by.hurry})
	printing := a.printer.Close()
	over()
	return f.verdict(a, err, printing)
}

// verdict tells what came of the job and returns the exit code.
func (f *jobFlags) verdict(a *attendance, err, printing error) int {
	if _, refused := errors.AsType[client.Refused](err); refused {
		return f.fail(exitFailed, err)
	}
	if f.printing.json {
		if summary := a.summary(); printing == nil {
			printing = summary
		}
	} else if !f.printing.quiet {
		a.report()
	}
	switch {
	case errors.Is(printing, syscall.EPIPE), errors.Is(err, syscall.EPIPE): // whoever read it has enough
		return exitFailed
	case err != nil && !errors.Is(err, printing):
		return f.fail(exitFailed, err)
	case printing != nil:
		return f.fail(exitFailed, fmt.Errorf("what tasks print cannot be written: %w", printing))
	case a.unread > 0:
		return exitFailed
	case f.printing.code && a.code > 0 && a.code < 256:
		return a.code
	case a.outcomes[cluster.Finished] < a.plan.Len():
		return exitFailed
	}
	return exitDone
}

// ended takes note of a task's end. It does not wait.
func (a *attendance) ended(position int64, e client.Ended) {
	a.mu.Lock()
	a.outcomes[e.Outcome]++
	a.code = e.ExitCode
	if !e.OK() && e.Outcome != cluster.Cancelled && len(a.bad) < mostBad {
		a.bad = append(a.bad, fmt.Sprintf("%s: %s", client.Describe(a.plan.At(position)), what(&e)))
	}
	a.mu.Unlock()
	p := &client.Printed{Position: position, Output: client.Output{Worker: e.Worker, TaskID: job.TaskID(a.job.ID, a.plan.At(position).Index)}}
	if !a.flags.json || a.flags.out != "" {
		p.Bytes = e.Printed
	}
	if a.flags.json {
		p.Task = &e
	}
	if p.Bytes > 0 || a.flags.json || a.flags.keep {
		a.printer.Add(p)
	}
}

// what says in a few words how a task ended.
func what(e *client.Ended) string {
	if e.Reason == "" {
		return fmt.Sprintf("%s, exit code %d", e.Outcome, e.ExitCode)
	}
	return fmt.Sprintf("%s: %s", e.Outcome, firstLine(e.Reason))
}

func (a *attendance) trouble(p *client.Printed, err error) {
	a.mu.Lock()
	a.unread++
	first := a.unread <= mostBad
	a.mu.Unlock()
	if first {
		fmt.Fprintf(a.stderr, "%s: %v\n", client.Describe(a.plan.At(p.Position)), err)
	}
}

// report tells of the tasks that did not finish.
func (a *attendance) report() {
	done, all := a.outcomes[cluster.Finished], a.plan.Len()
	for _, line := range a.bad {
		fmt.Fprintln(a.stderr, line)
	}
	if done < all || a.bar != nil {
		fmt.Fprintf(a.stderr, "%d of %s finished in %v", done, count(all, "task", "tasks"), time.Since(a.start).Round(10*time.Millisecond))
		for o := cluster.Failed; o <= cluster.Lost; o++ {
			if n := a.outcomes[o]; n > 0 {
				fmt.Fprintf(a.stderr, ", %d %s", n, o)
			}
		}
		fmt.Fprintln(a.stderr)
	}
}

// summary is the last of the JSON objects.
func (a *attendance) summary() error {
	return json.NewEncoder(a.stdout).Encode(struct {
		Job       string  `json:"job"`
		Tasks     int64   `json:"tasks"`
		Finished  int64   `json:"finished"`
		Failed    int64   `json:"failed"`
		TimedOut  int64   `json:"timed_out"`
		Cancelled int64   `json:"cancelled"`
		Lost      int64   `json:"lost"`
		Seconds   float64 `json:"seconds"`
	}{a.job.ID, a.plan.Len(), a.outcomes[cluster.Finished], a.outcomes[cluster.Failed], a.outcomes[cluster.TimedOut],
		a.outcomes[cluster.Cancelled], a.outcomes[cluster.Lost], time.Since(a.start).Seconds()})
}
