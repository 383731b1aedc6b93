// Package reporttest makes up runs for the tests of reports.
package reporttest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/runfiles"
)

// Fixture describes a made-up run.
type Fixture struct {
	Policy    string
	QPS       float64
	Seed      uint64
	Tasks     int
	Lost      int // of the tasks
	NoView    bool
	TimeScale float64
	Estimate  float64 // of each run, as a share of what it took; 0: none
	Settings  map[string]any
}

// Rows reads the rows of a run.
func Rows(t testing.TB, dir string) []generator.Row {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, runfiles.Tasks))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader := generator.NewRowReader(f)
	var rows []generator.Row
	for {
		var row generator.Row
		switch err := reader.Read(&row); {
		case errors.Is(err, io.EOF):
			return rows
		case err != nil:
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

// Write makes the directory of the run in parent and returns its path.
func (f Fixture) Write(t testing.TB, parent string) string {
	t.Helper()
	dir := filepath.Join(parent, fmt.Sprintf("%s-qps%g-seed%d", f.Policy, f.QPS, f.Seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var run, tasks strings.Builder
	w, err := generator.NewRowWriter(&tasks)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(f.Seed, uint64(f.QPS*100)+uint64(len(f.Policy))))
	for i := range f.Tasks {
		row := f.row(rng, i)
		if err := w.Write(&row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := generator.WriteRunInfo(&run, f.info()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{runfiles.Run: run.String(), runfiles.Tasks: tasks.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (f Fixture) info() *generator.RunInfo {
	r := Info()
	ended := time.Unix(100, 0)
	r.Policy, r.QPS, r.Seed, r.Tasks, r.Ended, r.Settings = f.Policy, f.QPS, f.Seed, f.Tasks, &ended, f.Settings
	r.Warmup = 0
	if f.TimeScale > 0 {
		r.TimeScale = f.TimeScale
	}
	submitted := map[string]int64{"in.submit": int64(f.Tasks), "out.probe": int64(f.Tasks) * int64(len(f.Policy)%3)}
	if !f.NoView {
		submitted["out.delta"] = int64(f.Tasks / 8)
	}
	r.Before.Schedulers = map[string]map[string]int64{"s": {}}
	r.After.Schedulers = map[string]map[string]int64{"s": submitted}
	return r
}

// row is a task on one of two classes; the more load, the longer it waits.
func (f Fixture) row(rng *rand.Rand, i int) generator.Row {
	if i < f.Lost {
		return Never(fmt.Sprint(i), cluster.Lost, float64(i))
	}
	r := Finished(fmt.Sprint(i), float64(i)*50/f.QPS, 10+rng.ExpFloat64()*100)
	wait := At(rng.ExpFloat64() * f.QPS)
	r.Started, r.Finished, r.Completed = r.Started+wait, r.Finished+wait, r.Completed+wait
	r.Worker = fmt.Sprintf("w%d", rng.IntN(3))
	if r.Worker == "w2" {
		r.Class = "large"
	}
	r.Type = []string{"linpack", "matmul"}[i%2]
	r.Estimate = int64(math.Round((r.Finished - r.Started).Seconds() * 1000 * f.info().TimeScale * f.Estimate))
	if !f.NoView {
		r.ViewDecisions = int64(max(0, i-rng.IntN(20)))
	}
	return r
}

// Campaign writes three policies at two loads with two seeds: one has no view, one loses tasks.
func Campaign(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, policy := range []string{"dodoor", "pot", "random"} {
		for _, qps := range []float64{10, 40} {
			for seed := range uint64(2) {
				f := Fixture{Policy: policy, QPS: qps, Seed: seed + 1, Tasks: 120, NoView: policy == "random"}
				if policy == "pot" && qps == 40 && seed == 1 {
					f.Lost = 3
				}
				f.Write(t, dir)
			}
		}
	}
	return dir
}

// At is so many milliseconds.
func At(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Finished is a task that waited 2 ms to be placed, then 10 ms, ran for run ms, and reported in 1.
func Finished(id string, scheduled, run float64) generator.Row {
	return generator.Row{
		TaskID: id, Class: "small", Worker: "w", Scheduler: "s", Cores: 2000, Memory: 512,
		Scheduled: At(scheduled), Sent: At(scheduled + 0.5), Received: At(scheduled + 1), Enqueued: At(scheduled + 3),
		Started: At(scheduled + 13), Finished: At(scheduled + 13 + run), Completed: At(scheduled + 14 + run),
		Attempts: 1, Outcome: cluster.Finished,
	}
}

// Never is a task that was sent, and of which nothing is known but how it ended.
func Never(id string, o cluster.Outcome, scheduled float64) generator.Row {
	n := generator.Never
	return generator.Row{TaskID: id, Scheduled: At(scheduled), Sent: At(scheduled), Received: n, Enqueued: n, Started: n, Finished: n,
		Completed: n, Outcome: o}
}

// Info describes a made-up run.
func Info() *generator.RunInfo {
	return &generator.RunInfo{
		Policy: "dodoor", On: "local", Trace: "functionbench", QPS: 10, Seed: 1, TimeScale: 20, Tasks: 4, Warmup: 1, Schedulers: 1,
		Classes: []generator.ClassInfo{{Name: "small", Nodes: 2, Cores: 4, MemoryMB: 1024}, {Name: "large", Nodes: 1, Cores: 32, MemoryMB: 6144}},
	}
}

// Read returns a file of a report or of a run.
func Read(t testing.TB, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Damage edits a file of a run.
func Damage(t testing.TB, edit func(string) string, parts ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(parts...), []byte(edit(Read(t, parts...))), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Replace is an edit of the first place.
func Replace(from, to string) func(string) string {
	return func(s string) string { return strings.Replace(s, from, to, 1) }
}

// Half is an edit that cuts a file off.
func Half(s string) string { return s[:len(s)/2] }
