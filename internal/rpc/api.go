// Package rpc is the only place that knows Thrift: it converts between the wire and the values of
// internal/cluster, and holds the server loop and the client connections of every service.
package rpc

import (
	"context"

	"dodoor/internal/cluster"
)

// Scheduler is the scheduler service: a replica implements it, a SchedulerClient calls it.
type Scheduler interface {
	Submit(ctx context.Context, r cluster.SubmitRequest) ([]cluster.Refusal, error)
	Collect(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error)
	Cancel(ctx context.Context, taskID string) (bool, error)
	Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error)
	Jobs(ctx context.Context, q cluster.JobQuery) ([]cluster.JobStatus, error)
	JobTasks(ctx context.Context, q cluster.JobTaskQuery) ([]cluster.JobTask, error)
	CancelJob(ctx context.Context, job string) (tasks int64, err error)
	RetryJob(ctx context.Context, job string) (tasks int64, err error)
	ForgetJob(ctx context.Context, job string) (known bool, err error)
	Estimates(ctx context.Context, q cluster.EstimateQuery) ([]cluster.Estimate, error)
	Complete(ctx context.Context, n cluster.CompletionNotice) error
	Push(ctx context.Context, s cluster.Snapshot) error
	View(ctx context.Context) (cluster.ClusterStatus, error)
	SwitchPolicy(ctx context.Context, policy string, seed uint64) error
	Settle(ctx context.Context) error
	Counters(ctx context.Context) (map[string]int64, error)
	Setup(ctx context.Context) (cluster.Setup, error)
}

// Worker is the worker service.
type Worker interface {
	Attach(ctx context.Context, s cluster.SchedulerRef) (cluster.AttachReply, error)
	Enqueue(ctx context.Context, e cluster.Enqueue) (cluster.EnqueueReply, error)
	Claim(ctx context.Context, q cluster.ClaimRequest) ([]cluster.Holding, error)
	Probe(ctx context.Context, taskID string, demand cluster.Resources) (cluster.ProbeReply, error)
	Cancel(ctx context.Context, taskID, scheduler string) (bool, error)
	Drain(ctx context.Context, draining bool) error
	Tasks(ctx context.Context, q cluster.TaskQuery) ([]cluster.TaskStatus, error)
	Refuses(ctx context.Context, t cluster.Template) (reason string, err error)
	Output(ctx context.Context, r cluster.OutputRequest) (cluster.OutputChunk, error)
	ForgetJob(ctx context.Context, job string) error
	State(ctx context.Context) (cluster.Report, error)
	Counters(ctx context.Context) (map[string]int64, error)
	Setup(ctx context.Context) (cluster.Setup, error)
}

// DataService is the data service.
type DataService interface {
	RegisterNode(ctx context.Context, n cluster.Node) (incarnation int64, err error)
	UnregisterNode(ctx context.Context, name string, incarnation int64) error
	RegisterScheduler(ctx context.Context, s cluster.SchedulerRef) (cluster.Snapshot, error)
	UnregisterScheduler(ctx context.Context, name string, incarnation int64) error
	CheckScheduler(ctx context.Context, name string, incarnation int64) error
	Flush(ctx context.Context, d cluster.Delta) (incarnation int64, err error)
	Report(ctx context.Context, r cluster.Report) error
	Status(ctx context.Context) (cluster.ClusterStatus, error)
	Settle(ctx context.Context) error
	Counters(ctx context.Context) (map[string]int64, error)
	Setup(ctx context.Context) (cluster.Setup, error)
}
