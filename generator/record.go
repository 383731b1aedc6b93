package generator

import (
	"io"
	"math"
	"time"

	"dodoor/internal/cluster"
)

// Row is the full account of one task of a run, one line of tasks.csv. Times are measured since the
// start of the run on the wall clock, or on the simulator's; under emulation they are not multiplied
// back, which is the reader's business. Cores, memory and estimate are trace figures.
//
// Each interval is exact on the one clock that measured it: sent - scheduled on the generator's,
// enqueued - received and completed - received on the scheduler's, started - enqueued and finished -
// started on the worker's. A time is the sum of the intervals before it, so the rows of one task
// agree without synchronised clocks: received <= enqueued <= started <= finished <= completed.
//
// A worker enqueues a task before its acknowledgement reaches the scheduler. Where the acknowledgement
// came so late that the worker's intervals would end after the completion, the task was enqueued when
// they fit: enqueued = min(received + scheduling, completed - wait - run).
//
// A task that the generator submitted again, because the scheduler that had it died or restarted,
// counts from its first submission: received is sent, and each submission is an attempt.
type Row struct {
	TaskID, Type, Mode       string
	Scheduler, Worker, Class string
	Cores                    int64 // millicores
	Memory                   int64 // MiB
	Estimate                 int64 // milliseconds

	Scheduled time.Duration // due by the arrival process
	Sent      time.Duration // handed to the connection; Never: not submitted
	Received  time.Duration // by the scheduler; sent, if it was submitted again
	Enqueued  time.Duration // by the worker, as the scheduler knows it
	Started   time.Duration
	Finished  time.Duration
	Completed time.Duration // completion known at the scheduler

	Attempts      int // placements; at least one for every submission
	Outcome       cluster.Outcome
	ExitCode      int   // of the program; -1 where none ran to its end
	Warmup        bool  // excluded from every figure but the counts
	ViewDecisions int64 // cluster-wide decisions that the deciding view included
	CPU           time.Duration
	PeakMemory    int64         // MiB
	Startup       time.Duration // part of the run: until the program itself began
	Reason        string
}

var rowColumns = []column[Row]{
	text("task_id", func(r *Row) *string { return &r.TaskID }),
	text("type", func(r *Row) *string { return &r.Type }),
	text("mode", func(r *Row) *string { return &r.Mode }),
	text("scheduler", func(r *Row) *string { return &r.Scheduler }),
	text("worker", func(r *Row) *string { return &r.Worker }),
	text("class", func(r *Row) *string { return &r.Class }),
	number("cores", milliPlaces, 0, func(r *Row) *int64 { return &r.Cores }),
	number("memory_mb", wholePlaces, 0, func(r *Row) *int64 { return &r.Memory }),
	number("estimate_ms", wholePlaces, 0, func(r *Row) *int64 { return &r.Estimate }),
	instant("scheduled_ms", func(r *Row) *time.Duration { return &r.Scheduled }),
	instant("sent_ms", func(r *Row) *time.Duration { return &r.Sent }),
	instant("received_ms", func(r *Row) *time.Duration { return &r.Received }),
	instant("enqueued_ms", func(r *Row) *time.Duration { return &r.Enqueued }),
	instant("started_ms", func(r *Row) *time.Duration { return &r.Started }),
	instant("finished_ms", func(r *Row) *time.Duration { return &r.Finished }),
	instant("completed_ms", func(r *Row) *time.Duration { return &r.Completed }),
	number("attempts", wholePlaces, 0, func(r *Row) *int { return &r.Attempts }),
	outcome("outcome", func(r *Row) *cluster.Outcome { return &r.Outcome }),
	number("exit_code", wholePlaces, math.MinInt32, func(r *Row) *int { return &r.ExitCode }),
	flag("warmup", func(r *Row) *bool { return &r.Warmup }),
	number("view_decisions", wholePlaces, 0, func(r *Row) *int64 { return &r.ViewDecisions }),
	number("cpu_ms", nanoPlaces, 0, func(r *Row) *time.Duration { return &r.CPU }),
	number("peak_memory_mb", wholePlaces, 0, func(r *Row) *int64 { return &r.PeakMemory }),
	number("startup_ms", nanoPlaces, 0, func(r *Row) *time.Duration { return &r.Startup }),
	text("reason", func(r *Row) *string { return &r.Reason }),
}

// NewRowWriter starts a tasks.csv on w.
func NewRowWriter(w io.Writer) (*Writer[Row], error) { return newWriter(w, rowColumns) }

// NewRowReader reads a tasks.csv.
func NewRowReader(r io.Reader) *Reader[Row] { return newReader(r, rowColumns) }

// neverRan is the exit code of a task without an execution.
const neverRan = -1

// NewRow returns the row of task i before anything happened to it.
func (w *Workload) NewRow(i int) Row {
	k := &w.kinds[w.kindOf[i]]
	return Row{
		TaskID:   w.ID(i),
		Type:     k.typ,
		Mode:     k.mode,
		Cores:    k.demand[cluster.Cores],
		Memory:   k.demand[cluster.Memory],
		Estimate: k.duration,

		Scheduled: w.due[i],
		Sent:      Never,
		Received:  Never,
		Enqueued:  Never,
		Started:   Never,
		Finished:  Never,
		Completed: Never,

		ExitCode: neverRan,
	}
}

// Fill completes the row of a task that reached a terminal state. start is when the run began, on
// the clock of rec.Received; submissions is how many schedulers may have taken the task, counting one
// that restarted twice. What the task did not reach stays Never: a task without a worker was never
// enqueued, and what was lost has no times that anybody knows.
func (r *Row) Fill(rec *cluster.TaskRecord, start time.Duration, submissions int) {
	r.Scheduler, r.Worker, r.Class = rec.Scheduler, rec.Worker, rec.Class
	r.Outcome, r.Reason, r.Attempts = rec.Outcome, rec.Reason, max(rec.Attempts+submissions-1, submissions)
	r.CPU, r.PeakMemory, r.Startup, r.ViewDecisions = rec.CPU, rec.PeakMemory, rec.Startup, rec.ViewDecisions
	received := rec.Received - start
	r.Received = received
	if submissions > 1 {
		received = max(received, r.Sent) // two clocks may disagree by more than the message's flight
		r.Received = r.Sent
	}
	if rec.Worker == "" || rec.Outcome == cluster.Lost {
		return
	}
	r.Cores, r.Memory, r.Estimate = rec.Demand[cluster.Cores], rec.Demand[cluster.Memory], rec.Estimate
	r.Completed = received + rec.Makespan
	r.Enqueued = max(r.Received, min(received+rec.Scheduling, r.Completed-rec.Wait-rec.Run))
	if rec.Run > 0 || rec.Outcome == cluster.Finished {
		r.Started = r.Enqueued + rec.Wait
		r.Finished = r.Started + rec.Run
		r.ExitCode = rec.ExitCode
	}
}

// NodeSample is the state of one worker at one moment, one line of nodes.csv.
type NodeSample struct {
	Time            time.Duration // since the start of the run
	Worker, Class   string
	Cores           int64 // millicores in use
	Memory          int64 // MiB in use
	Queued, Running int
}

var nodeColumns = []column[NodeSample]{
	instant("time_ms", func(s *NodeSample) *time.Duration { return &s.Time }),
	text("worker", func(s *NodeSample) *string { return &s.Worker }),
	text("class", func(s *NodeSample) *string { return &s.Class }),
	number("used_cores", milliPlaces, 0, func(s *NodeSample) *int64 { return &s.Cores }),
	number("used_memory_mb", wholePlaces, 0, func(s *NodeSample) *int64 { return &s.Memory }),
	number("queued", wholePlaces, 0, func(s *NodeSample) *int { return &s.Queued }),
	number("running", wholePlaces, 0, func(s *NodeSample) *int { return &s.Running }),
}

// NewNodeWriter starts a nodes.csv on w.
func NewNodeWriter(w io.Writer) (*Writer[NodeSample], error) { return newWriter(w, nodeColumns) }

func outcome[T any](name string, at func(*T) *cluster.Outcome) column[T] {
	return column[T]{
		name:  name,
		write: func(line []byte, row *T) []byte { return append(line, at(row).String()...) },
		read: func(cell string, row *T) string {
			o, ok := cluster.ParseOutcome(cell)
			if !ok {
				return "is not an outcome: finished, failed, timed-out, cancelled or lost"
			}
			*at(row) = o
			return ""
		},
	}
}

// flag is a column of 0 and 1.
func flag[T any](name string, at func(*T) *bool) column[T] {
	return column[T]{
		name: name,
		write: func(line []byte, row *T) []byte {
			if *at(row) {
				return append(line, '1')
			}
			return append(line, '0')
		},
		read: func(cell string, row *T) string {
			if cell != "0" && cell != "1" {
				return "must be 0 or 1"
			}
			*at(row) = cell == "1"
			return ""
		},
	}
}
