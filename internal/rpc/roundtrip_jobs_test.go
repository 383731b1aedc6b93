package rpc

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

func TestJobRoundTrips(t *testing.T) {
	h := &fakeScheduler{}
	_, _, cfg := inMemory(t, SchedulerService(h, dims), quiet())
	c := schedulerClient(t, "memory:1", cfg)
	check := func(name string, property func(*rapid.T)) {
		t.Run(name, func(t *testing.T) { rapid.Check(t, property) })
	}

	check("jobs", func(t *rapid.T) {
		sent := cluster.JobQuery{ID: maybe.Draw(t, "id"), Max: rapid.IntRange(0, maxItems).Draw(t, "max"), Wait: pauses.Draw(t, "wait")}
		answer := listOf(jobStatuses).Draw(t, "jobs")
		h.jobs = func(_ context.Context, got cluster.JobQuery) ([]cluster.JobStatus, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Jobs(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("tasks of a job", func(t *rapid.T) {
		sent := cluster.JobTaskQuery{Job: names.Draw(t, "job"), From: counts.Draw(t, "from"), Max: rapid.IntRange(1, maxItems).Draw(t, "max"),
			Unsuccessful: rapid.Bool().Draw(t, "unsuccessful")}
		answer := listOf(jobTasks).Draw(t, "tasks")
		h.jobTasks = func(_ context.Context, got cluster.JobTaskQuery) ([]cluster.JobTask, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.JobTasks(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
	check("cancel, retry and forget", func(t *rapid.T) {
		job, answer := names.Draw(t, "job"), rapid.Int64Range(0, 5).Draw(t, "tasks")
		for what, call := range map[string]func() (int64, error){
			"cancel": func() (int64, error) { return c.CancelJob(background, job) },
			"retry":  func() (int64, error) { return c.RetryJob(background, job) },
			"forget": func() (int64, error) {
				known, err := c.ForgetJob(background, job)
				same(t, "known", known, answer > 0)
				return answer, err
			},
		} {
			h.onJob = func(_ context.Context, gotWhat, got string) (int64, error) {
				same(t, "call", gotWhat, what)
				same(t, "job", got, job)
				return answer, nil
			}
			got, err := call()
			same(t, "error", err, nil)
			same(t, "reply", got, answer)
		}
	})
}

func TestOutputRoundTrips(t *testing.T) {
	h := &fakeWorker{}
	_, _, cfg := inMemory(t, WorkerService(h, dims), quiet())
	c := workerClient(t, "memory:1", cfg)
	rapid.Check(t, func(t *rapid.T) {
		sent, answer := outputRequests.Draw(t, "request"), outputChunks.Draw(t, "chunk")
		h.output = func(_ context.Context, got cluster.OutputRequest) (cluster.OutputChunk, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Output(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)

		template, why := templates.Draw(t, "template"), texts.Draw(t, "why")
		h.refuses = func(_ context.Context, got cluster.Template) (string, error) {
			same(t, "template", got, template)
			return why, nil
		}
		gotWhy, err := c.Refuses(background, template)
		same(t, "error", err, nil)
		same(t, "reply", gotWhy, why)

		job := names.Draw(t, "job")
		h.forget = func(_ context.Context, got string) error { same(t, "job", got, job); return nil }
		same(t, "error", c.ForgetJob(background, job), nil)
	})
}
