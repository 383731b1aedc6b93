package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/job"
)

const logsExample = `dodoor logs 1kdvdna00x2f4                   # all tasks, in order
dodoor logs 1kdvdna00x2f4.17 -follow        # one task, until it ends
dodoor logs -out results 1kdvdna00x2f4      # results/1.out, results/1.err, ...
dodoor logs -attempt 1 1kdvdna00x2f4.17     # what it printed before it was retried`

// logs is a command that prints what tasks printed.
type logs struct {
	*options
	printing printFlags
	follow   bool
	attempt  int

	cluster *client.Cluster
	job     string
	unread  int64
}

func runLogs(args []string, stdout, stderr io.Writer) int {
	l := &logs{options: newOptions("logs", "prints what a job, or a task of one, printed: the newest attempt of each task", logsExample,
		"local", stderr)}
	l.visitFlags()
	l.outFlags(&l.printing)
	l.BoolVar(&l.follow, "follow", false, "go on printing until the task, or every task one after the other, has ended")
	l.IntVar(&l.attempt, "attempt", 0, "of one task: this attempt, from 1 on; 0: the newest")
	if code := l.parseArgument(args, "job"); code >= 0 {
		return code
	}
	id, index, one := job.ParseID(l.Arg(0))
	if l.attempt < 0 || l.attempt > 0 && !one {
		return l.fail(exitUsage, errors.New("-attempt is a number from 1 on, of one task: JOB.INDEX"))
	}
	v, code := l.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	l.cluster, l.job = v.asking(), id
	defer l.cluster.Close()
	pipe := make(chan os.Signal, 1) // that nobody reads any more is an error where it is written
	signal.Notify(pipe, syscall.SIGPIPE)
	defer signal.Stop(pipe)
	return l.verdict(l.run(v.ctx, index, one, stdout))
}

// verdict is the exit code of what came of it.
func (l *logs) verdict(err error) int {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return exitFailed
	case err != nil:
		return l.fail(exitFailed, err)
	case l.unread > 0:
		return exitFailed
	}
	return exitDone
}

func (l *logs) run(ctx context.Context, index int64, one bool, stdout io.Writer) error {
	if !one {
		if _, err := l.cluster.Job(ctx, l.job); errors.Is(err, client.ErrUnknownJob) && !l.cluster.Orphaned(ctx, l.job) {
			return err
		}
	}
	itself := func(i int64) int64 { return i }
	sink, err := l.printing.sink(stdout, l.stderr, func(i int64) string { return fmt.Sprint(i) }, itself)
	if err != nil {
		return err
	}
	if !l.follow {
		return l.print(ctx, sink, index, one)
	}
	if !one {
		return l.followAll(ctx, sink)
	}
	t, err := l.cluster.Task(ctx, l.job, index)
	if err != nil {
		return err
	}
	return l.followTask(ctx, &t, sink)
}

func (l *logs) followTask(ctx context.Context, t *cluster.JobTask, sink client.Sink) error {
	return l.cluster.FollowTask(ctx, l.job, t.Index, l.attempt, sink, func(err error) {
		l.trouble(&client.Printed{Output: client.Output{TaskID: t.ID}}, err)
	})
}

// followAll follows one task after the other.
func (l *logs) followAll(ctx context.Context, sink client.Sink) error {
	for t, err := range l.cluster.Tasks(ctx, l.job, 0, false) {
		if err != nil {
			return err
		}
		if t.Outcome != cluster.NoOutcome && t.Printed == 0 {
			continue
		}
		if err := l.followTask(ctx, &t, sink); err != nil {
			return fmt.Errorf("task %s: %w", t.ID, err)
		}
	}
	return nil
}

// waiting is how many tasks of a job wait at most to be printed.
const waiting = 1024

// print prints what there is.
func (l *logs) print(ctx context.Context, sink client.Sink, index int64, one bool) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	room := make(chan struct{}, waiting)
	p := l.cluster.NewPrinter(ctx, releasing{sink, room}, false, l.trouble, giveUp)
	err := l.each(ctx, index, one, func(t *cluster.JobTask) {
		bytes := t.Printed
		if t.Outcome == cluster.NoOutcome {
			bytes = client.Unknown
		}
		if bytes == 0 || t.Worker == "" {
			return
		}
		select {
		case room <- struct{}{}:
			p.Add(&client.Printed{Position: t.Index, Output: client.Output{Worker: t.Worker, TaskID: t.ID, Attempt: l.attempt}, Bytes: bytes})
		case <-ctx.Done():
		}
	})
	if printing := p.Close(); printing != nil {
		return printing
	}
	return err
}

// each calls do for the tasks that are meant.
func (l *logs) each(ctx context.Context, index int64, one bool, do func(*cluster.JobTask)) error {
	if one {
		t, err := l.cluster.Task(ctx, l.job, index)
		if unknown := err != nil; unknown || l.attempt > 0 {
			if unknown {
				t = cluster.JobTask{Index: index, ID: job.TaskID(l.job, index)}
			}
			var nowhere error
			t.Worker, nowhere = l.cluster.Find(ctx, client.Output{Worker: t.Worker, TaskID: t.ID, Attempt: l.attempt})
			if !unknown || nowhere == nil { // else why nobody knows it says more
				err = nowhere
			}
			t.Outcome = cluster.NoOutcome // how much that attempt printed, nobody knows
		}
		if err == nil {
			do(&t)
		}
		return err
	}
	for t, err := range l.cluster.Tasks(ctx, l.job, 0, false) {
		if err != nil {
			return err
		}
		do(&t)
	}
	return nil
}

// trouble tells of an output that could not be read whole.
func (l *logs) trouble(p *client.Printed, err error) {
	l.unread++
	fmt.Fprintf(l.stderr, "task %s: %v\n", p.TaskID, err)
}

// releasing makes room for another task after each.
type releasing struct {
	client.Sink
	room chan struct{}
}

// End implements client.Sink.
func (r releasing) End() error {
	<-r.room
	return r.Sink.End()
}
