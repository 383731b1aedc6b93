package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// fixture describes a made-up run.
type fixture struct {
	policy    string
	qps       float64
	seed      uint64
	tasks     int
	lost      int // of the tasks
	noView    bool
	timeScale float64
	estimate  float64 // of each run, as a share of what it took; 0: none
	settings  map[string]any
}

// write makes the directory of the run in parent and returns its path.
func (f fixture) write(t testing.TB, parent string) string {
	t.Helper()
	dir := filepath.Join(parent, fmt.Sprintf("%s-qps%g-seed%d", f.policy, f.qps, f.seed))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var run, tasks strings.Builder
	w, err := generator.NewRowWriter(&tasks)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(f.seed, uint64(f.qps*100)+uint64(len(f.policy))))
	for i := range f.tasks {
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
	for name, text := range map[string]string{runFile: run.String(), tasksFile: tasks.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (f fixture) info() *generator.RunInfo {
	r := info()
	ended := time.Unix(100, 0)
	r.Policy, r.QPS, r.Seed, r.Tasks, r.Ended, r.Settings = f.policy, f.qps, f.seed, f.tasks, &ended, f.settings
	r.Warmup = 0
	if f.timeScale > 0 {
		r.TimeScale = f.timeScale
	}
	submitted := map[string]int64{"in.submit": int64(f.tasks), "out.probe": int64(f.tasks) * int64(len(f.policy)%3)}
	if !f.noView {
		submitted["out.delta"] = int64(f.tasks / 8)
	}
	r.Before.Schedulers = map[string]map[string]int64{"s": {}}
	r.After.Schedulers = map[string]map[string]int64{"s": submitted}
	return r
}

// row is a task on one of two classes; the more load, the longer it waits.
func (f fixture) row(rng *rand.Rand, i int) generator.Row {
	if i < f.lost {
		return never(fmt.Sprint(i), cluster.Lost, float64(i))
	}
	r := finished(fmt.Sprint(i), float64(i)*50/f.qps, 10+rng.ExpFloat64()*100)
	wait := at(rng.ExpFloat64() * f.qps)
	r.Started, r.Finished, r.Completed = r.Started+wait, r.Finished+wait, r.Completed+wait
	r.Worker = fmt.Sprintf("w%d", rng.IntN(3))
	if r.Worker == "w2" {
		r.Class = "large"
	}
	r.Type = []string{"linpack", "matmul"}[i%2]
	r.Estimate = int64(math.Round(milliseconds(r.Finished-r.Started) * f.info().TimeScale * f.estimate))
	if !f.noView {
		r.ViewDecisions = int64(max(0, i-rng.IntN(20)))
	}
	return r
}

// campaign writes three policies at two loads with two seeds: one has no view, one loses tasks.
func campaign(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, policy := range []string{"dodoor", "pot", "random"} {
		for _, qps := range []float64{10, 40} {
			for seed := range uint64(2) {
				f := fixture{policy: policy, qps: qps, seed: seed + 1, tasks: 120, noView: policy == "random"}
				if policy == "pot" && qps == 40 && seed == 1 {
					f.lost = 3
				}
				f.write(t, dir)
			}
		}
	}
	return dir
}
