package rpc

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// Generators of valid values, for the round trips. Times are whole units of the wire; empty lists
// are nil.

var (
	names    = rapid.StringMatching(`[a-zA-Z0-9._/ \p{Greek}-]{1,40}`)
	maybe    = rapid.OneOf(rapid.Just(""), names)
	counts   = rapid.Int64Range(0, math.MaxInt64)
	positive = rapid.Int64Range(1, math.MaxInt64)
	amounts  = rapid.Int64Range(0, cluster.MaxAmount)
	anything = rapid.Int64()
	int32s   = rapid.Map(rapid.Int32Range(0, math.MaxInt32), func(v int32) int { return int(v) })
	spans    = rapid.Map(rapid.Int64Range(0, maxMicros), func(v int64) time.Duration { return time.Duration(v) * time.Microsecond })
	millisec = rapid.Map(rapid.Int64Range(0, maxMillis), func(v int64) time.Duration { return time.Duration(v) * time.Millisecond })
	texts    = rapid.Map(rapid.String(), func(s string) string { return *text(s) })

	addresses = rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%s:%d", rapid.SampledFrom([]string{"localhost", "10.0.0.1", "[::1]"}).Draw(t, "host"),
			rapid.IntRange(1, 65535).Draw(t, "port"))
	})
)

func resources(each *rapid.Generator[int64]) *rapid.Generator[cluster.Resources] {
	return rapid.Custom(func(t *rapid.T) (r cluster.Resources) {
		for k := range dims.Len() {
			r[k] = each.Draw(t, "amount")
		}
		return r
	})
}

func loads(each *rapid.Generator[int64]) *rapid.Generator[cluster.Load] {
	return rapid.Custom(func(t *rapid.T) cluster.Load {
		return cluster.Load{Demand: resources(each).Draw(t, "demand"), Tasks: each.Draw(t, "tasks"),
			Duration: each.Draw(t, "duration"), Work: anything.Draw(t, "work")}
	})
}

func listOf[T any](each *rapid.Generator[T]) *rapid.Generator[[]T] {
	return rapid.Map(rapid.SliceOfN(each, 0, 4), func(s []T) []T {
		if len(s) == 0 {
			return nil
		}
		return s
	})
}

var schedulerRefs = rapid.Custom(func(t *rapid.T) cluster.SchedulerRef {
	return cluster.SchedulerRef{Name: names.Draw(t, "name"), Address: addresses.Draw(t, "address"),
		Incarnation: positive.Draw(t, "incarnation"), Riders: rapid.Bool().Draw(t, "riders"), Resumes: rapid.Bool().Draw(t, "resumes")}
})

var nodes = rapid.Custom(func(t *rapid.T) cluster.Node {
	return cluster.Node{Name: names.Draw(t, "name"), Address: addresses.Draw(t, "address"), Class: names.Draw(t, "class"),
		Capacity: resources(amounts).Draw(t, "capacity"), Slots: 1 + int32s.Draw(t, "slots")/2,
		Incarnation: positive.Draw(t, "incarnation"), Draining: rapid.Bool().Draw(t, "draining")}
})

var reports = rapid.Custom(func(t *rapid.T) cluster.Report {
	received := rapid.Custom(func(t *rapid.T) cluster.Received {
		return cluster.Received{Scheduler: names.Draw(t, "scheduler"), Incarnation: positive.Draw(t, "incarnation"),
			Number: counts.Draw(t, "number"), Received: loads(anything).Draw(t, "received")}
	})
	return cluster.Report{Node: names.Draw(t, "node"), Incarnation: positive.Draw(t, "incarnation"),
		Sequence: counts.Draw(t, "sequence"), Load: loads(counts).Draw(t, "load"),
		RunningDemand: resources(counts).Draw(t, "running demand"), Running: int32s.Draw(t, "running"),
		Queued: int32s.Draw(t, "queued"), Draining: rapid.Bool().Draw(t, "draining"),
		Received: listOf(received).Draw(t, "received"), Blocked: millisec.Draw(t, "blocked")}
})

var riders = rapid.Ptr(reports, true)

var taskSpecs = rapid.Custom(func(t *rapid.T) cluster.TaskSpec {
	demand, duration := resources(amounts), rapid.Int64Range(0, cluster.MaxDuration)
	command, typ := rapid.Ptr(commands, true).Draw(t, "command"), cluster.CommandType
	if command == nil {
		typ = names.Draw(t, "type")
	}
	return cluster.TaskSpec{ID: names.Draw(t, "id"), Type: typ, Mode: maybe.Draw(t, "mode"), Command: command,
		Demand: rapid.Ptr(demand, true).Draw(t, "demand"), Duration: rapid.Ptr(duration, true).Draw(t, "duration"),
		LearnCores: rapid.Bool().Draw(t, "learn cores"), LearnMemory: rapid.Bool().Draw(t, "learn memory"),
		AtMostOnce: rapid.Bool().Draw(t, "at most once"), TimeScale: rapid.Float64Range(1, cluster.MaxTimeScale).Draw(t, "scale")}
})

func refusals(numbers *rapid.Generator[int64]) *rapid.Generator[[]cluster.Refusal] {
	return listOf(rapid.Custom(func(t *rapid.T) cluster.Refusal {
		return cluster.Refusal{TaskID: names.Draw(t, "id"), Message: texts.Draw(t, "message"),
			Code: cluster.RefusalCode(rapid.IntRange(1, int(cluster.NotAllowed)).Draw(t, "code")), Number: numbers.Draw(t, "number")}
	}))
}

var outcomes = rapid.Map(rapid.IntRange(1, int(cluster.Lost)), func(o int) cluster.Outcome { return cluster.Outcome(o) })

var records = rapid.Custom(func(t *rapid.T) cluster.TaskRecord {
	return cluster.TaskRecord{ID: names.Draw(t, "id"), Type: names.Draw(t, "type"), Mode: maybe.Draw(t, "mode"),
		Scheduler: names.Draw(t, "scheduler"), Worker: maybe.Draw(t, "worker"), Class: maybe.Draw(t, "class"),
		Demand: resources(amounts).Draw(t, "demand"), Estimate: rapid.Int64Range(0, cluster.MaxDuration).Draw(t, "estimate"),
		Received: spans.Draw(t, "received"), Scheduling: spans.Draw(t, "scheduling"), Wait: spans.Draw(t, "wait"),
		Run: spans.Draw(t, "run"), Makespan: spans.Draw(t, "makespan"), Attempts: int32s.Draw(t, "attempts"),
		Outcome: outcomes.Draw(t, "outcome"), ExitCode: int(rapid.Int32().Draw(t, "exit")), Reason: texts.Draw(t, "reason"),
		Measured: measures.Draw(t, "measured"), ViewDecisions: counts.Draw(t, "decisions"),
		User: maybe.Draw(t, "user")}
})

var measures = rapid.Custom(func(t *rapid.T) cluster.Measured {
	return cluster.Measured{CPU: millisec.Draw(t, "cpu"), PeakMemory: counts.Draw(t, "peak"), Startup: spans.Draw(t, "startup"),
		OutOfMemory: rapid.Bool().Draw(t, "oom"), Output: texts.Draw(t, "output"), Printed: counts.Draw(t, "printed")}
})

var taskStatuses = rapid.Custom(func(t *rapid.T) cluster.TaskStatus {
	s := cluster.TaskStatus{ID: names.Draw(t, "id"), Type: names.Draw(t, "type"), Mode: maybe.Draw(t, "mode"),
		Phase: cluster.Phase(rapid.IntRange(1, int(cluster.Ended)).Draw(t, "phase")), Node: maybe.Draw(t, "node"),
		Scheduler: maybe.Draw(t, "scheduler"), Job: maybe.Draw(t, "job"), Attempt: int(rapid.Int32Min(0).Draw(t, "attempt")),
		User: maybe.Draw(t, "user"), Record: rapid.Ptr(records, true).Draw(t, "record")}
	if s.Job != "" {
		s.Index = counts.Draw(t, "index")
	}
	if s.Phase == cluster.Queued {
		s.Ahead = counts.Draw(t, "ahead")
	}
	return s
})

var queries = rapid.Custom(func(t *rapid.T) cluster.TaskQuery {
	return cluster.TaskQuery{ID: maybe.Draw(t, "id"), IDs: listOf(names).Draw(t, "ids"), Max: rapid.IntRange(0, maxItems).Draw(t, "max"),
		After: maybe.Draw(t, "after"), Job: maybe.Draw(t, "job"), Ended: rapid.Bool().Draw(t, "ended"),
		Answering: listOf(names).Draw(t, "answering")}
})

var completions = rapid.Custom(func(t *rapid.T) cluster.Completion {
	return cluster.Completion{TaskID: names.Draw(t, "id"), Number: positive.Draw(t, "number"), Outcome: outcomes.Draw(t, "outcome"),
		ExitCode: int(rapid.Int32().Draw(t, "exit")), Reason: texts.Draw(t, "reason"), Wait: spans.Draw(t, "wait"),
		Run: spans.Draw(t, "run"), Measured: measures.Draw(t, "measured")}
})

var notices = rapid.Custom(func(t *rapid.T) cluster.CompletionNotice {
	return cluster.CompletionNotice{Node: names.Draw(t, "node"), NodeIncarnation: positive.Draw(t, "incarnation"),
		SchedulerIncarnation: positive.Draw(t, "scheduler"), Completions: listOf(completions).Draw(t, "completions"),
		Report: riders.Draw(t, "report")}
})

var enqueues = rapid.Custom(func(t *rapid.T) cluster.Enqueue {
	q := cluster.Enqueue{Scheduler: schedulerRefs.Draw(t, "scheduler"), NodeIncarnation: positive.Draw(t, "incarnation"),
		Number: rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "number"), Placed: loads(anything).Draw(t, "placed")}
	for range rapid.IntRange(0, 4).Draw(t, "assignments") {
		q.Number += rapid.Int64Range(1, 3).Draw(t, "gap")
		q.Assignments = append(q.Assignments, cluster.Assignment{Number: q.Number, TaskID: names.Draw(t, "id"),
			Type: names.Draw(t, "type"), Mode: maybe.Draw(t, "mode"), Shape: cluster.Shape{
				Demand: resources(amounts).Draw(t, "demand"), Duration: rapid.Int64Range(0, cluster.MaxDuration).Draw(t, "duration")},
			Guessed:   rapid.Bool().Draw(t, "guessed"),
			Takes:     rapid.Int64Range(0, cluster.MaxDuration).Draw(t, "takes"),
			TimeScale: rapid.Float64Range(1, cluster.MaxTimeScale).Draw(t, "scale"),
			Command:   rapid.Ptr(commands, true).Draw(t, "command"), Attempt: int32s.Draw(t, "attempt"),
			AtMostOnce: rapid.Bool().Draw(t, "once"), User: maybe.Draw(t, "user")})
	}
	return q
})

var claimRequests = rapid.Custom(func(t *rapid.T) cluster.ClaimRequest {
	claim := rapid.Custom(func(t *rapid.T) cluster.Claim {
		return cluster.Claim{TaskID: names.Draw(t, "id"), Number: positive.Draw(t, "number")}
	})
	return cluster.ClaimRequest{Scheduler: schedulerRefs.Draw(t, "scheduler"), NodeIncarnation: positive.Draw(t, "incarnation"),
		Claims: listOf(claim).Draw(t, "claims")}
})

var deltas = rapid.Custom(func(t *rapid.T) cluster.Delta {
	placed := rapid.Custom(func(t *rapid.T) cluster.Placed {
		return cluster.Placed{Node: names.Draw(t, "node"), NodeIncarnation: positive.Draw(t, "incarnation"),
			Number: counts.Draw(t, "number"), Placed: loads(anything).Draw(t, "placed")}
	})
	d := cluster.Delta{Scheduler: names.Draw(t, "scheduler"), Incarnation: positive.Draw(t, "incarnation"),
		Decisions: counts.Draw(t, "decisions"), Placed: listOf(placed).Draw(t, "placed"), Experience: listOf(experiences).Draw(t, "seen")}
	for i := range d.Experience {
		d.Experience[i].Scheduler, d.Experience[i].Incarnation = d.Scheduler, d.Incarnation
	}
	return d
})

var snapshots = rapid.Custom(func(t *rapid.T) cluster.Snapshot {
	s := cluster.Snapshot{Incarnation: positive.Draw(t, "incarnation"), Version: counts.Draw(t, "version"),
		RosterVersion: counts.Draw(t, "roster version"), Decisions: counts.Draw(t, "decisions"),
		ReceiverIncarnation: positive.Draw(t, "receiver"), Experience: listOf(experiences).Draw(t, "seen")}
	s.BaseVersion = rapid.Int64Range(0, s.Version).Draw(t, "base")
	known := math.MaxInt32
	if rapid.Bool().Draw(t, "with roster") {
		s.Roster = &cluster.Roster{Version: s.RosterVersion, Nodes: listOf(nodes).Draw(t, "nodes")}
		known = len(s.Roster.Nodes)
		if rapid.Bool().Draw(t, "homes") && known > 0 {
			s.Roster.Schedulers = rapid.SliceOfN(names, 1, 3).Draw(t, "schedulers")
			s.Roster.Home = rapid.SliceOfN(rapid.Int32Range(-1, int32(len(s.Roster.Schedulers)-1)), known, known).Draw(t, "home")
		}
	}
	for range rapid.IntRange(0, min(known, 5)).Draw(t, "rows") {
		s.Node = append(s.Node, int32(rapid.IntRange(0, known-1).Draw(t, "node")))
		s.Load = append(s.Load, loads(anything).Draw(t, "load"))
		s.ReportSequence = append(s.ReportSequence, counts.Draw(t, "sequence"))
		s.OwnNumber = append(s.OwnNumber, counts.Draw(t, "own"))
	}
	return s
})

var statuses = rapid.Custom(func(t *rapid.T) cluster.ClusterStatus {
	node := rapid.Custom(func(t *rapid.T) cluster.NodeStatus {
		return cluster.NodeStatus{Node: nodes.Draw(t, "node"), Load: loads(anything).Draw(t, "load"),
			Report: riders.Draw(t, "report"), Heard: rapid.OneOf(rapid.Just(time.Duration(-1)), millisec).Draw(t, "heard")}
	})
	return cluster.ClusterStatus{Version: counts.Draw(t, "version"), Decisions: counts.Draw(t, "decisions"),
		Nodes: listOf(node).Draw(t, "nodes"), Schedulers: listOf(schedulerRefs).Draw(t, "schedulers")}
})

var setups = rapid.Custom(func(t *rapid.T) cluster.Setup {
	maybe := rapid.OneOf(rapid.Just(""), names)
	return cluster.Setup{Name: maybe.Draw(t, "name"), Version: texts.Draw(t, "version"), Digest: maybe.Draw(t, "digest"),
		Incarnation: positive.Draw(t, "incarnation"), Batch: int(counts.Draw(t, "batch")), Policy: maybe.Draw(t, "policy"),
		Seed: rapid.Uint64().Draw(t, "seed")}
})

var counterMaps = rapid.MapOf(names, anything)
