package sim_test

import (
	"testing"

	"dodoor/sim"
)

func BenchmarkPerf(b *testing.B) {
	for range b.N {
		u := setup{"paper", nil, "dodoor", "functionbench", 60, 200000, 1}
		cfg := u.config(b)
		b.ResetTimer()
		res, err := sim.Run(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(res.Events)/b.Elapsed().Seconds()/1e6, "Mev/s")
		b.ReportMetric(float64(u.n)/b.Elapsed().Seconds()/1e3, "ktask/s")
	}
}
