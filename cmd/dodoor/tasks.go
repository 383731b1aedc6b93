package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

func runTasks(args []string, stdout, stderr io.Writer) int {
	o := newOptions("tasks", "lists the tasks that the schedulers hold, unfinished ones first", "dodoor tasks -max 20\ndodoor tasks -id my-task", "local", stderr)
	o.visitFlags()
	id := o.String("id", "", "show this task alone")
	most := o.Int("max", 50, "tasks per scheduler")
	if code := o.parse(args); code >= 0 {
		return code
	}
	if *most < 1 {
		return o.fail(exitUsage, fmt.Errorf("-max is %d: it must be at least 1", *most))
	}
	v, code := o.connect()
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

const submitExample = `dodoor submit -conf conf/single.toml -type simulated -cores 0.5 -memory 128 -duration 2s
dodoor submit -type lr_train -mode short`

func runSubmit(args []string, stdout, stderr io.Writer) int {
	o := newOptions("submit", "submits one task to a running cluster and waits for its end", submitExample, "local", stderr)
	o.visitFlags()
	var (
		id       = o.String("id", "", "id of the task; made up when empty")
		typ      = o.String("type", "", "task `type`: one of the configuration's [[task_type]] tables")
		mode     = o.String("mode", "", "mode of the type")
		cores    = o.Float64("cores", 0, "demand in cores; 0: the type's profile decides")
		memory   = o.Int64("memory", 0, "demand in MB of memory")
		duration = o.Duration("duration", 0, "estimated duration; 0: the type's profile decides")
		once     = o.Bool("at-most-once", false, "never run it again after a machine failed")
		nowait   = o.Bool("no-wait", false, "return as soon as it is accepted")
	)
	if code := o.parse(args); code >= 0 {
		return code
	}
	spec := cluster.TaskSpec{ID: *id, Type: *typ, Mode: *mode, AtMostOnce: *once, TimeScale: 1}
	if spec.ID == "" {
		spec.ID = fmt.Sprintf("task-%x", time.Now().UnixNano())
	}
	if err := explicitFigures(&spec, *cores, *memory, *duration); err != nil {
		return o.fail(exitUsage, err)
	}
	v, code := o.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	record, err := v.submit(spec, *nowait)
	switch {
	case err != nil:
		return o.fail(exitFailed, err)
	case record == nil:
		fmt.Fprintf(stdout, "%s accepted\n", spec.ID)
		return exitDone
	}
	fmt.Fprintln(stdout, taskTable([]cluster.TaskStatus{{ID: record.ID, Type: record.Type, Mode: record.Mode, Phase: cluster.Ended,
		Node: record.Worker, Scheduler: record.Scheduler, Record: record}}))
	if record.Outcome != cluster.Finished {
		return exitFailed
	}
	return exitDone
}

// explicitFigures takes the demand and duration that the person gave.
func explicitFigures(s *cluster.TaskSpec, cores float64, memory int64, duration time.Duration) error {
	if !(cores >= 0 && cores*1000 <= float64(cluster.MaxAmount)) || memory < 0 || duration < 0 {
		return fmt.Errorf("-cores %v -memory %d -duration %v: none may be negative, infinite or not a number", cores, memory, duration)
	}
	if cores > 0 || memory > 0 {
		s.Demand = &cluster.Resources{cluster.Cores: int64(math.Round(cores * 1000)), cluster.Memory: memory}
	}
	if duration > 0 {
		ms := duration.Milliseconds()
		s.Duration = &ms
	}
	return nil
}

// submit hands the task to the first scheduler that takes it, and waits for its record.
func (v *visit) submit(spec cluster.TaskSpec, nowait bool) (*cluster.TaskRecord, error) {
	failures := []error{errors.New("no scheduler took the task")}
	for _, s := range v.status.Schedulers {
		client := v.scheduler(s.Address)
		defer client.Close()
		refused, err := client.Submit(v.ctx, cluster.SubmitRequest{Client: spec.ID, Tasks: []cluster.TaskSpec{spec}})
		switch {
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", s.Name, err))
		case len(refused) > 0:
			return nil, refused[0]
		case nowait:
			return nil, nil
		default:
			return await(v.ctx, client, spec.ID)
		}
	}
	return nil, errors.Join(failures...)
}

// await collects the one record of a client.
func await(ctx context.Context, client *rpc.SchedulerClient, name string) (*cluster.TaskRecord, error) {
	for {
		reply, err := client.Collect(ctx, cluster.CollectRequest{Client: name, Max: 1, Wait: 10 * time.Second})
		if err != nil {
			return nil, err
		}
		if len(reply.Records) > 0 {
			_, err := client.Collect(ctx, cluster.CollectRequest{Client: name, After: reply.Cursor, Max: 1})
			return &reply.Records[0], err
		}
	}
}
