package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/internal/cluster"
)

func runTasks(args []string, stdout, stderr io.Writer) int {
	o := newOptions("tasks", "lists the tasks that the schedulers hold, unfinished ones first",
		"dodoor tasks -max 20\ndodoor tasks -cluster lab -id my-task", "local", stderr)
	o.visitFlags()
	id := o.String("id", "", "show this task alone")
	most := o.Int("max", 50, "tasks per scheduler")
	v, code := o.visitList(args, most)
	if code >= 0 {
		return code
	}
	defer v.close()
	var all []cluster.TaskStatus
	var failures []error
	for _, s := range v.status.Schedulers {
		client := v.scheduler(s.Address)
		list, err := client.Tasks(v.ctx, cluster.TaskQuery{ID: *id, Max: *most})
		client.Close()
		all = append(all, list...)
		failures = append(failures, err)
	}
	if len(all) > 0 {
		fmt.Fprintln(stdout, taskTable(all))
	}
	if err := errors.Join(failures...); err != nil {
		return o.fail(exitFailed, err)
	}
	if *id != "" && len(all) == 0 {
		return o.fail(exitFailed, fmt.Errorf("no scheduler knows a task %q", *id))
	}
	return exitDone
}

func taskTable(tasks []cluster.TaskStatus) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"task", "type", "mode", "phase", "outcome", "worker", "scheduler", "wait", "run", "makespan", "reason"})
	for i := range tasks {
		s := &tasks[i]
		row := table.Row{s.ID, s.Type, s.Mode, s.Phase, "", s.Node, s.Scheduler, "", "", "", ""}
		if r := s.Record; r != nil {
			row[4], row[7], row[8], row[9], row[10] = r.Outcome, brief(r.Wait), brief(r.Run), brief(r.Makespan), r.Reason
		}
		t.AppendRow(row)
	}
	return t.Render()
}

func brief(d time.Duration) string { return d.Round(time.Millisecond).String() }
