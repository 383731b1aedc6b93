package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"dodoor/client"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
	"dodoor/internal/terminal"
	"dodoor/job"
)

// showEvery is how often progress is shown.
const showEvery = 200 * time.Millisecond

// show draws how far the job is until the function that it returns is called.
func (a *attendance) show() (stop func()) {
	if a.bar == nil {
		return func() {}
	}
	over, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(showEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				a.draw()
			case <-over:
				a.bar.Finish()
				return
			}
		}
	}()
	return func() { close(over); <-gone }
}

func (a *attendance) draw() {
	a.mu.Lock()
	done := int64(0)
	for _, n := range a.outcomes {
		done += n
	}
	bad := done - a.outcomes[cluster.Finished]
	a.mu.Unlock()
	elapsed := time.Since(a.start)
	a.bar.Show(int(done), elapsed, func(perSecond float64) string {
		return fmt.Sprintf("%d failed, %.0f/s, %s, done", bad, perSecond, progress.Times(elapsed, float64(done)/float64(a.plan.Len())))
	})
}

// through is a sink behind what has to be there before: no bar in the way of a task's lines, or an object about the task.
func (a *attendance) through(sink client.Sink) client.Sink {
	switch {
	case a.flags.json:
		return &objects{sink, json.NewEncoder(a.stdout), a.plan, a.job.ID, nil}
	case a.bar != nil && a.flags.out == "" && terminal.Is(os.Stdout):
		return clearing{sink, a.bar}
	}
	return sink
}

// clearing is a sink that shares the terminal with a bar.
type clearing struct {
	client.Sink
	bar *progress.Line
}

// Begin implements client.Sink.
func (c clearing) Begin(p *client.Printed) error {
	c.bar.Clear()
	return c.Sink.Begin(p)
}

// objects writes an object per task.
type objects struct {
	client.Sink
	to   *json.Encoder
	plan job.Plan
	job  string
	task *client.Printed
}

// Begin implements client.Sink.
func (o *objects) Begin(p *client.Printed) error {
	o.task = p
	return o.Sink.Begin(p)
}

// End implements client.Sink.
func (o *objects) End() error {
	if err := o.Sink.End(); err != nil {
		return err
	}
	t, e := o.plan.At(o.task.Position), o.task.Task
	return o.to.Encode(taskObject{Job: o.job, Index: t.Index, ID: job.TaskID(o.job, t.Index), Entries: t.Entries, Outcome: e.Outcome.String(),
		ExitCode: e.ExitCode, Reason: e.Reason, Worker: e.Worker, Attempts: e.Attempts, Wait: e.Wait.Seconds(), Run: e.Run.Seconds(),
		Printed: e.Printed, Output: e.Tail})
}

// taskObject is a task in JSON.
type taskObject struct {
	Job      string   `json:"job"`
	Index    int64    `json:"index"`
	ID       string   `json:"id"`
	Entries  []string `json:"entries,omitempty"`
	Outcome  string   `json:"outcome,omitempty"` // empty: it has not ended
	ExitCode int      `json:"exit_code"`
	Reason   string   `json:"reason,omitempty"`
	Worker   string   `json:"worker,omitempty"`
	Attempts int      `json:"attempts"`
	Wait     float64  `json:"wait_s"`
	Run      float64  `json:"run_s"`
	Printed  int64    `json:"printed_bytes"`
	Output   string   `json:"output,omitempty"` // the end of it
}
