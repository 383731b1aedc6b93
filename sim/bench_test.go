package sim_test

import (
	"runtime"
	"testing"

	"dodoor/sim"
)

// BenchmarkSimulation is the paper's cluster of 100 workers and 5 schedulers under moderate load: how much a
// campaign can ask for.
func BenchmarkSimulation(b *testing.B) {
	for _, policy := range []string{"dodoor", "dodoor+", "pot", sim.Oracle} {
		b.Run(policy, func(b *testing.B) {
			u := setup{profile: "paper", policy: policy, trace: "functionbench", qps: 60, n: 20_000, seed: 1}
			cfg := u.config(b)
			events, tasks := 0.0, 0.0
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				result, err := sim.Run(cfg)
				if err != nil {
					b.Fatal(err)
				}
				events += float64(result.Events)
				tasks += float64(u.n)
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(tasks/b.Elapsed().Seconds(), "tasks/s")
			b.ReportMetric(float64(after.Mallocs-before.Mallocs)/tasks, "allocs/task")
		})
	}
}
