package rpc

import (
	"math"
	"time"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) notice(n *cluster.CompletionNotice) *dodoor.CompletionNotice {
	w := &dodoor.CompletionNotice{
		Node: &n.Node, NodeIncarnation: &n.NodeIncarnation, SchedulerIncarnation: &n.SchedulerIncarnation,
		Completions: make([]*dodoor.Completion, len(n.Completions)), Report: e.report(n.Report),
	}
	messages, f := make([]dodoor.Completion, len(n.Completions)), newFigures(len(n.Completions), 4, 1)
	for i := range n.Completions {
		c := &n.Completions[i]
		messages[i] = dodoor.Completion{
			TaskID: &c.TaskID, Number: &c.Number, Outcome: f.outcome(c.Outcome),
			ExitCode: f.narrow(c.ExitCode), Reason: optionalText(c.Reason),
			WaitUs: f.micros(c.Wait), RunUs: f.micros(c.Run), CPUMs: f.millis(c.CPU), PeakMemoryMib: &c.PeakMemory,
			StartupUs: f.micros(c.Startup), OutOfMemory: &c.OutOfMemory, Output: optionalText(c.Output),
			PrintedBytes: &c.Printed,
		}
		w.Completions[i] = &messages[i]
	}
	return w
}

// figuresMessage holds what the messages of a list point to, where that is no part of the values that they are made
// from: one allocation for all of a kind.
type figuresMessage struct {
	wide     []int64
	narrowed []int32
	outcomes []dodoor.Outcome
}

// newFigures has room for n messages with so many wide and narrow figures each.
func newFigures(n, wide, narrowed int) figuresMessage {
	return figuresMessage{make([]int64, 0, n*wide), make([]int32, 0, n*narrowed), make([]dodoor.Outcome, 0, n)}
}

func (f *figuresMessage) micros(d time.Duration) *int64 { return keep(&f.wide, d.Microseconds()) }

func (f *figuresMessage) millis(d time.Duration) *int64 { return keep(&f.wide, d.Milliseconds()) }

func (f *figuresMessage) narrow(n int) *int32 { return keep(&f.narrowed, narrowest(int64(n))) }

func (f *figuresMessage) outcome(o cluster.Outcome) *dodoor.Outcome {
	return keep(&f.outcomes, dodoor.Outcome(o))
}

// keep returns where it put v.
func keep[T any](in *[]T, v T) *T {
	*in = append(*in, v)
	return &(*in)[len(*in)-1]
}

func (d *decoder) notice(w *dodoor.CompletionNotice) (n cluster.CompletionNotice) {
	if w == nil {
		d.missing("notice")
		return n
	}
	n.Node = d.name("node", w.Node)
	n.NodeIncarnation = d.incarnation("node_incarnation", w.NodeIncarnation)
	n.SchedulerIncarnation = d.incarnation("scheduler_incarnation", w.SchedulerIncarnation)
	n.Report = d.rider(w.Report)
	if count := d.length("completions", len(w.Completions), maxItems); count > 0 {
		n.Completions = make([]cluster.Completion, count)
	}
	for i := range n.Completions {
		d.enter("completions", i)
		n.Completions[i] = d.completion(w.Completions[i])
		d.leave()
	}
	return n
}

func (d *decoder) completion(w *dodoor.Completion) cluster.Completion {
	return cluster.Completion{
		TaskID:   d.name("task_id", w.TaskID),
		Number:   d.between("number", w.Number, 1, math.MaxInt64),
		Outcome:  enum(d, "outcome", w.Outcome, cluster.Lost),
		ExitCode: d.int32("exit_code", w.ExitCode, math.MinInt32, math.MaxInt32),
		Reason:   d.text("reason", w.Reason),
		Wait:     d.micros("wait_us", w.WaitUs),
		Run:      d.micros("run_us", w.RunUs),
		Measured: d.measured(w.CPUMs, w.PeakMemoryMib, w.StartupUs, w.GetOutOfMemory(), w.Output, w.PrintedBytes),
	}
}

func (d *decoder) measured(cpu, peak, startup *int64, outOfMemory bool, output *string, printed *int64) cluster.Measured {
	m := cluster.Measured{
		CPU:         d.millis("cpu_ms", cpu),
		PeakMemory:  d.count("peak_memory_mib", peak),
		Startup:     d.micros("startup_us", startup),
		OutOfMemory: outOfMemory,
		Output:      d.text("output", output),
	}
	if printed != nil {
		m.Printed = d.count("printed_bytes", printed)
	}
	return m
}

// recordMessage holds a TaskRecord and its demand.
type recordMessage struct {
	record dodoor.TaskRecord
	demand dodoor.Amounts
}

func (e encoder) record(w *recordMessage, f *figuresMessage, r *cluster.TaskRecord) *dodoor.TaskRecord {
	w.record = dodoor.TaskRecord{
		ID: &r.ID, TaskType: &r.Type, Mode: optional(&r.Mode), Scheduler: &r.Scheduler,
		Worker: optional(&r.Worker), NodeClass: optional(&r.Class),
		Demand: e.amounts(&w.demand, &r.Demand), EstimateMs: &r.Estimate,
		ReceivedUnixUs: f.micros(r.Received), SchedulingUs: f.micros(r.Scheduling), WaitUs: f.micros(r.Wait),
		RunUs: f.micros(r.Run), MakespanUs: f.micros(r.Makespan), Attempts: f.narrow(r.Attempts),
		Outcome: f.outcome(r.Outcome), ExitCode: f.narrow(r.ExitCode), Reason: optionalText(r.Reason),
		CPUMs: f.millis(r.CPU), PeakMemoryMib: &r.PeakMemory, ViewDecisions: &r.ViewDecisions,
		StartupUs: f.micros(r.Startup), OutOfMemory: &r.OutOfMemory, Output: optionalText(r.Output),
		PrintedBytes: &r.Printed, User: optional(&r.User),
	}
	return &w.record
}

func (d *decoder) record(w *dodoor.TaskRecord) cluster.TaskRecord {
	return cluster.TaskRecord{
		ID: d.name("id", w.ID), Type: d.name("task_type", w.TaskType), Mode: d.optionalName("mode", w.Mode),
		Scheduler: d.name("scheduler", w.Scheduler), Worker: d.optionalName("worker", w.Worker),
		Class:         d.optionalName("node_class", w.NodeClass),
		Demand:        d.amounts("demand", w.Demand, amount),
		Estimate:      d.between("estimate_ms", w.EstimateMs, 0, cluster.MaxDuration),
		Received:      d.micros("received_unix_us", w.ReceivedUnixUs),
		Scheduling:    d.micros("scheduling_us", w.SchedulingUs),
		Wait:          d.micros("wait_us", w.WaitUs),
		Run:           d.micros("run_us", w.RunUs),
		Makespan:      d.micros("makespan_us", w.MakespanUs),
		Attempts:      d.int32("attempts", w.Attempts, 0, math.MaxInt32),
		Outcome:       enum(d, "outcome", w.Outcome, cluster.Lost),
		ExitCode:      d.int32("exit_code", w.ExitCode, math.MinInt32, math.MaxInt32),
		Reason:        d.text("reason", w.Reason),
		Measured:      d.measured(w.CPUMs, w.PeakMemoryMib, w.StartupUs, w.GetOutOfMemory(), w.Output, w.PrintedBytes),
		ViewDecisions: d.count("view_decisions", w.ViewDecisions),
		User:          d.optionalName("user", w.User),
	}
}

func (e encoder) collect(r *cluster.CollectRequest) *dodoor.CollectRequest {
	return &dodoor.CollectRequest{
		Client: &r.Client, After: &r.After, Incarnation: &r.Incarnation, Max: narrow(int64(r.Max)), WaitMs: narrow(r.Wait.Milliseconds()),
	}
}

func (d *decoder) collect(w *dodoor.CollectRequest) (r cluster.CollectRequest) {
	if w == nil {
		d.missing("request")
		return r
	}
	r.Client = d.name("client", w.Client)
	r.After = d.count("after", w.After)
	r.Incarnation = d.count("incarnation", w.Incarnation)
	r.Max = d.int32("max", w.Max, 0, maxItems)
	r.Wait = time.Duration(d.int32("wait_ms", w.WaitMs, 0, maxPollMs)) * time.Millisecond
	return r
}

func (e encoder) collectReply(r cluster.CollectReply) *dodoor.CollectReply {
	w := &dodoor.CollectReply{Cursor: &r.Cursor, Incarnation: &r.Incarnation}
	if r.Keeps {
		w.Keeps = &r.Keeps
	}
	if len(r.Records) > 0 {
		w.Records = make([]*dodoor.TaskRecord, len(r.Records))
	}
	messages, f := make([]recordMessage, len(r.Records)), newFigures(len(r.Records), 7, 2)
	for i := range r.Records {
		w.Records[i] = e.record(&messages[i], &f, &r.Records[i])
	}
	return w
}

func (d *decoder) collectReply(w *dodoor.CollectReply) cluster.CollectReply {
	r := cluster.CollectReply{
		Cursor: d.count("cursor", w.Cursor), Incarnation: d.incarnation("incarnation", w.Incarnation),
		Keeps: flag(w.Keeps),
	}
	if n := d.length("records", len(w.Records), maxItems); n > 0 {
		r.Records = make([]cluster.TaskRecord, n)
	}
	for i := range r.Records {
		d.enter("records", i)
		r.Records[i] = d.record(w.Records[i])
		d.leave()
	}
	return r
}
