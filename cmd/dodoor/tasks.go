package main

import (
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/internal/cluster"
	"dodoor/job"
)

func runTasks(args []string, stdout, stderr io.Writer) int {
	o := newOptions("tasks", "lists the tasks that the schedulers hold, unfinished ones first, and those that workers hold for no scheduler",
		"dodoor tasks -max 20\ndodoor tasks -cluster lab -id my-task", "local", stderr)
	o.visitFlags()
	id := o.String("id", "", "show this task alone")
	most := o.Int("max", 50, "tasks per scheduler, and, of those that no scheduler answers for, per worker")
	v, code := o.visitList(args, most)
	if code >= 0 {
		return code
	}
	defer v.close()
	c := v.asking()
	defer c.Close()
	if *id != "" {
		found, err := c.Look(v.ctx, *id)
		if len(found) > 0 {
			fmt.Fprintln(stdout, taskTable(found))
			io.WriteString(stdout, o.outputHint(found))
			if err != nil {
				fmt.Fprintf(stderr, "dodoor tasks: of these nobody knows what they know of it: %v\n", err)
			}
			return exitDone
		}
		if err != nil {
			return o.fail(exitFailed, err)
		}
		return o.fail(exitFailed, fmt.Errorf("no scheduler that is registered and no worker knows a task %q", *id))
	}
	list := tasksList{to: stdout}
	err := c.List(v.ctx, *most, list.add)
	if printing := list.print(); err == nil {
		err = printing
	}
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

// tableRows is how many rows a table has at most: a longer list is several tables.
const tableRows = 8192

// tasksList prints tasks as they come.
type tasksList struct {
	to    io.Writer
	tasks []cluster.TaskStatus // not printed yet
}

func (l *tasksList) add(tasks []cluster.TaskStatus) error {
	if l.tasks = append(l.tasks, tasks...); len(l.tasks) < tableRows {
		return nil
	}
	return l.print()
}

func (l *tasksList) print() error {
	if len(l.tasks) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(l.to, taskTable(l.tasks))
	l.tasks = l.tasks[:0]
	return err
}

// outputHint says how to read what a task printed, if anything can be.
func (o *options) outputHint(found []cluster.TaskStatus) string {
	for i := range found {
		if s := &found[i]; s.Job != "" && s.Node != "" && (s.Record == nil || s.Record.Printed > 0) {
			return o.again("logs", job.TaskID(s.Job, s.Index)) + " prints what it printed\n"
		}
	}
	return ""
}

func taskTable(tasks []cluster.TaskStatus) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"task", "type", "mode", "phase", "ahead", "attempt", "outcome", "worker", "scheduler", "wait", "run", "makespan",
		"reason"})
	for i := range tasks {
		s := &tasks[i]
		row := table.Row{s.ID, s.Type, s.Mode, s.Phase, "", "", "", s.Node, s.Scheduler, "", "", "", ""}
		if s.Phase == cluster.Queued {
			row[4] = s.Ahead
		}
		if s.Attempt > 0 {
			row[5] = s.Attempt
		}
		if r := s.Record; r != nil {
			row[6], row[9], row[10], row[11], row[12] = r.Outcome, brief(r.Wait), brief(r.Run), brief(r.Makespan), firstLine(r.Reason)
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func brief(d time.Duration) string { return d.Round(time.Millisecond).String() }
