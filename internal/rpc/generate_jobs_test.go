package rpc

import (
	"math"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// Generators of what belongs to commands and jobs.

var (
	anyBytes = rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) })
	pauses   = rapid.Map(rapid.Int64Range(0, maxPollMs), func(v int64) time.Duration { return time.Duration(v) * time.Millisecond })
)

// bytesOrNone returns nil for nothing, as it arrives.
var bytesOrNone = rapid.Map(anyBytes, func(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
})

var templates = rapid.Custom(func(t *rapid.T) cluster.Template {
	limit := rapid.Int64Range(0, cluster.MaxDuration).Draw(t, "time limit")
	return cluster.Template{Argv: append([]string{names.Draw(t, "program")}, listOf(anyBytes).Draw(t, "argv")...),
		Env: listOf(anyBytes).Draw(t, "env"), Script: bytesOrNone.Draw(t, "script"), Image: maybe.Draw(t, "image"),
		Workdir: maybe.Draw(t, "workdir"), Stdin: bytesOrNone.Draw(t, "stdin"), TimeLimit: time.Duration(limit) * time.Millisecond}
})

var commands = rapid.Custom(func(t *rapid.T) cluster.Command {
	c := cluster.Command{Digest: names.Draw(t, "digest"), Template: rapid.Ptr(templates, true).Draw(t, "template"), Job: maybe.Draw(t, "job"),
		Index: counts.Draw(t, "index"), Entries: listOf(anyBytes).Draw(t, "entries")}
	if c.Template != nil {
		c.Digest = c.Template.Digest()
	}
	return c
})

var jobs = rapid.Custom(func(t *rapid.T) cluster.Job {
	limits := rapid.IntRange(0, maxItems)
	return cluster.Job{ID: names.Draw(t, "id"), Name: maybe.Draw(t, "name"), Text: texts.Draw(t, "text"), Tasks: counts.Draw(t, "tasks"),
		Submitted: spans.Draw(t, "submitted"), Retries: limits.Draw(t, "retries"), CrashLimit: limits.Draw(t, "crash limit"),
		MaxFails: counts.Draw(t, "max fails"), User: maybe.Draw(t, "user")}
})

var jobStatuses = rapid.Custom(func(t *rapid.T) cluster.JobStatus {
	s := cluster.JobStatus{Job: jobs.Draw(t, "job"), Scheduler: maybe.Draw(t, "scheduler"), Accepted: counts.Draw(t, "accepted"),
		Retried: counts.Draw(t, "retried"), Ended: spans.Draw(t, "ended")}
	for o := cluster.Finished; o <= cluster.Lost; o++ {
		s.Outcomes[o] = counts.Draw(t, o.String())
	}
	return s
})

var jobTasks = rapid.Custom(func(t *rapid.T) cluster.JobTask {
	return cluster.JobTask{Index: counts.Draw(t, "index"), ID: names.Draw(t, "id"),
		Outcome:  rapid.OneOf(rapid.Just(cluster.NoOutcome), outcomes).Draw(t, "outcome"),
		ExitCode: int(rapid.Int32Range(math.MinInt32, math.MaxInt32).Draw(t, "exit")), Worker: maybe.Draw(t, "worker"),
		Attempts: int32s.Draw(t, "attempts"), Run: spans.Draw(t, "run"), Printed: counts.Draw(t, "printed"), Reason: texts.Draw(t, "reason"),
		Entries: listOf(anyBytes).Draw(t, "entries")}
})

var outputRequests = rapid.Custom(func(t *rapid.T) cluster.OutputRequest {
	return cluster.OutputRequest{TaskID: names.Draw(t, "id"), Attempt: rapid.IntRange(0, maxItems).Draw(t, "attempt"),
		Errors: rapid.Bool().Draw(t, "errors"), Offset: counts.Draw(t, "offset"), Max: rapid.IntRange(1, maxChunk).Draw(t, "max"),
		Wait: pauses.Draw(t, "wait")}
})

var outputChunks = rapid.Custom(func(t *rapid.T) cluster.OutputChunk {
	return cluster.OutputChunk{Data: bytesOrNone.Draw(t, "data"), Printed: counts.Draw(t, "printed"), Kept: counts.Draw(t, "kept"),
		Ended: rapid.Bool().Draw(t, "ended"), Attempt: rapid.IntRange(0, maxItems).Draw(t, "attempt"), Loss: texts.Draw(t, "loss")}
})
