package generator

import (
	"testing"
	"time"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// Each interval is the measurement of one clock.
func TestFill(t *testing.T) {
	epoch := 1700000000 * time.Second
	rec := cluster.TaskRecord{
		Scheduler: "s1", Worker: "w1", Class: "m510", Demand: cluster.Resources{4000, 39}, Estimate: 699,
		Received: epoch + 10*time.Millisecond, Scheduling: 2 * time.Millisecond, Wait: 30 * time.Millisecond,
		Run: 400 * time.Millisecond, Makespan: 445 * time.Millisecond, Attempts: 2, Outcome: cluster.Finished,
		Measured: cluster.Measured{CPU: time.Second, PeakMemory: 41, Startup: 160 * time.Millisecond}, ViewDecisions: 200,
	}
	w, err := NewWorkload([]Request{{ID: "a", Type: "matmul", Demand: cluster.Resources{8000, 41}, Duration: 456}},
		Options{Pacing: Pacing{QPS: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	filled := func(change func(*cluster.TaskRecord)) Row {
		r, row := rec, w.NewRow(0)
		change(&r)
		row.Fill(&r, epoch, 1)
		return row
	}
	row := filled(func(*cluster.TaskRecord) {})
	if row.Received != 10*time.Millisecond || row.Enqueued-row.Received != rec.Scheduling || row.Started-row.Enqueued != rec.Wait ||
		row.Finished-row.Started != rec.Run || row.Completed-row.Received != rec.Makespan {
		t.Errorf("times of %+v", row)
	}
	if row.Cores != 4000 || row.Memory != 39 || row.Estimate != 699 || row.Attempts != 2 || row.Class != "m510" {
		t.Errorf("a placed task has its figures on that class: %+v", row)
	}
	row = filled(func(r *cluster.TaskRecord) { r.Worker, r.Outcome, r.Reason = "", cluster.Failed, "refused everywhere" })
	if row.Enqueued != Never || row.Completed != Never || row.Cores != 8000 || row.Reason != "refused everywhere" {
		t.Errorf("a task without a worker keeps its own figures and has no times: %+v", row)
	}
	row = filled(func(r *cluster.TaskRecord) { r.Outcome = cluster.Lost })
	if row.Enqueued != Never || row.Finished != Never || row.Worker != "w1" {
		t.Errorf("nobody knows the times of a lost task: %+v", row)
	}
	row = filled(func(r *cluster.TaskRecord) { r.Outcome, r.Run = cluster.Cancelled, 0 })
	if row.Started != Never || row.Finished != Never || row.Enqueued == Never || row.Completed == Never {
		t.Errorf("a task cancelled in the queue never started: %+v", row)
	}
}

// Whatever a scheduler and a worker can have measured, the times of a row are in order.
func TestFilledTimesAreInOrder(t *testing.T) {
	span := func(t *rapid.T, name string) time.Duration {
		return time.Duration(rapid.Int64Range(0, 1e10).Draw(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		rec := cluster.TaskRecord{Worker: "w", Outcome: cluster.Finished, Received: span(t, "received"), Wait: span(t, "wait"),
			Run:      span(t, "run"),
			Attempts: rapid.IntRange(1, 3).Draw(t, "attempts")}
		submissions := rapid.IntRange(1, 3).Draw(t, "submissions")
		row := Row{Sent: rec.Received - span(t, "since the first submission")}
		before := span(t, "before it was enqueued")
		if submissions > 1 && rapid.Bool().Draw(t, "enqueued before it was received again") {
			before = -min(before, rec.Received-row.Sent, rec.Wait+rec.Run)
		}
		rec.Makespan = before + rec.Wait + rec.Run + span(t, "flight of the completion")
		rec.Scheduling = max(0, before) + span(t, "flight of the acknowledgement")
		row.Fill(&rec, 0, submissions)
		if !(row.Received <= row.Enqueued && row.Enqueued <= row.Started && row.Started <= row.Finished && row.Finished <= row.Completed) {
			t.Fatalf("%+v gives %+v", rec, row)
		}
		if row.Started-row.Enqueued != rec.Wait || row.Finished-row.Started != rec.Run || row.Completed != rec.Received+rec.Makespan {
			t.Fatalf("%+v loses a measurement: %+v", rec, row)
		}
		want := rec.Received
		if submissions > 1 {
			want = row.Sent
		}
		if row.Received != want || row.Attempts != rec.Attempts+submissions-1 {
			t.Fatalf("%d submissions, %+v: %+v", submissions, rec, row)
		}
	})
}

// A task without an execution has no program's exit code.
func TestExitCodeOfWhatNeverRan(t *testing.T) {
	w, err := NewWorkload(make([]Request, 1), Options{Pacing: Pacing{QPS: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []cluster.TaskRecord{
		{Outcome: cluster.Failed, Reason: "refused everywhere"},
		{Outcome: cluster.Cancelled, Worker: "w"},
		{Outcome: cluster.Lost, Worker: "w", Run: time.Second},
	} {
		row := w.NewRow(0)
		if row.ExitCode != -1 {
			t.Errorf("before anything happened: exit code %d", row.ExitCode)
		}
		if row.Fill(&rec, 0, 1); row.ExitCode != -1 {
			t.Errorf("%+v: exit code %d", rec, row.ExitCode)
		}
	}
	row := Row{ExitCode: -1}
	if row.Fill(&cluster.TaskRecord{Outcome: cluster.Failed, Worker: "w", Run: 1, ExitCode: 7}, 0, 1); row.ExitCode != 7 {
		t.Errorf("a program's exit code 7 comes out as %d", row.ExitCode)
	}
}
