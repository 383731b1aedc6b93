package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"dodoor/internal/cluster"
)

const submitExample = `dodoor submit -conf conf/single.toml -type simulated -cores 0.5 -memory 128 -duration 2s
dodoor submit -cluster lab -type lr_train -mode short`

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
	millicores := math.Round(cores * 1000)
	if !(millicores >= 0 && millicores <= float64(cluster.MaxAmount)) || math.Abs(cores*1000-millicores) > 1e-6*max(millicores, 1) {
		return fmt.Errorf("-cores %v: allowed are multiples of 0.001 up to %d, and 0 for the type's profile", cores, cluster.MaxAmount/1000)
	}
	if memory < 0 || memory > cluster.MaxAmount {
		return fmt.Errorf("-memory %d: allowed are 0 to %d MB", memory, cluster.MaxAmount)
	}
	ms := duration.Milliseconds()
	if ms < 0 || ms > cluster.MaxDuration || duration%time.Millisecond != 0 {
		return fmt.Errorf("-duration %v: allowed are whole milliseconds from 1ms to a year (8760h), and 0 for the type's profile", duration)
	}
	if millicores > 0 || memory > 0 {
		s.Demand = &cluster.Resources{cluster.Cores: int64(millicores), cluster.Memory: memory}
	}
	if ms > 0 {
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
		case v.ctx.Err() != nil:
			return nil, fmt.Errorf("interrupted before %s answered: it may have taken the task; %s", s.Name, lookAfter(spec.ID))
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", s.Name, err))
		case len(refused) > 0:
			return nil, refused[0]
		case nowait:
			return nil, nil
		default:
			return await(v.ctx, client, s, spec.ID)
		}
	}
	return nil, errors.Join(failures...)
}

// lookAfter says how to see and how to end a task that nobody waits for.
func lookAfter(id string) string {
	return fmt.Sprintf("dodoor tasks -id %s shows it, dodoor cancel %s ends it", id, id)
}

// await collects the one record of a client, which has the name of its task, from the scheduler that
// accepted it. Another process under the scheduler's address knows nothing of the task.
func await(ctx context.Context, client collector, s cluster.SchedulerRef, id string) (*cluster.TaskRecord, error) {
	for {
		reply, err := client.Collect(ctx, cluster.CollectRequest{Client: id, Max: 1, Wait: 10 * time.Second})
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("interrupted: task %s goes on; %s", id, lookAfter(id))
		case err != nil && cluster.CodeOf(err) != 0:
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("scheduler %s is gone (%w): task %s may still run; %s", s.Name, err, id, lookAfter(id))
		case reply.Incarnation != s.Incarnation:
			return nil, fmt.Errorf("scheduler %s is gone, another process has taken its place: task %s may still run; %s", s.Name, id, lookAfter(id))
		case len(reply.Records) > 0:
			// A record that is not acknowledged is kept for a while, and that is all.
			_, _ = client.Collect(ctx, cluster.CollectRequest{Client: id, After: reply.Cursor, Incarnation: reply.Incarnation, Max: 1})
			return &reply.Records[0], nil
		}
	}
}

// collector is what await needs of a scheduler.
type collector interface {
	Collect(context.Context, cluster.CollectRequest) (cluster.CollectReply, error)
}
