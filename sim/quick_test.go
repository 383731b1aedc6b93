package sim_test

import (
	"fmt"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/sim"
)

func nodeName(class string, i int) string { return fmt.Sprintf("%s-%d", class, i+1) }

func TestQuick(t *testing.T) {
	for _, u := range []setup{
		{"paper", nil, "dodoor", "azure_vm_600s.csv", 2, 4000, 1},
		{"paper", nil, "pot", "azure_vm_600s.csv", 2, 4000, 1},
		{"paper", nil, "dodoor+", "azure_vm_600s.csv", 2, 4000, 1},
		{"paper", nil, "oracle", "azure_vm_600s.csv", 2, 4000, 1},
		{"paper", nil, "dodoor", "azure_vm_600s.csv", 20, 4000, 1},
		{"paper", nil, "pot", "azure_vm_600s.csv", 20, 4000, 1},
		{"paper", nil, "dodoor", "functionbench", 100, 20000, 1},
		{"paper", nil, "pot", "functionbench", 100, 20000, 1},
		{"paper", nil, "prequal", "functionbench", 100, 20000, 1},
		{"paper", nil, "dodoor+", "functionbench", 100, 20000, 1},
		{"paper", nil, "oracle", "functionbench", 100, 20000, 1},
	} {
		cfg := u.config(t)
		sum, n := 0.0, 0
		cfg.Row = func(r *generator.Row) error {
			if !r.Warmup {
				sum += (r.Completed - r.Received).Seconds()
				n++
			}
			return nil
		}
		begin := time.Now()
		res, err := sim.Run(cfg)
		if err != nil {
			t.Error(u.policy, err)
		}
		took := time.Since(begin)
		t.Logf("%s %s %g: mean %.3f  elapsed %v took %v  %.2f M ev/s %.0f k tasks/s ev/task %.1f", u.policy, u.trace, u.qps, sum/float64(n), res.Elapsed, took,
			float64(res.Events)/took.Seconds()/1e6, float64(u.n)/took.Seconds()/1e3, float64(res.Events)/float64(u.n))
	}
}
