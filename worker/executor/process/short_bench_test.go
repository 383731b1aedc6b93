package process

import (
	"sync"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker/executor/executortest"
)

// The least that a task costs: programs that do nothing, sixteen at a time.
func BenchmarkShortPrograms(b *testing.B) {
	const atOnce, program = 16, "/bin/true"
	for _, mode := range []string{off, auto} {
		b.Run("cgroup="+mode, func(b *testing.B) {
			b.Setenv("TMPDIR", b.TempDir())
			p, err := New(Config{Allow: []string{program}, Cgroup: mode, Worker: "bench"})
			if err == nil {
				err = p.Check()
			}
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Unlimited(); err != nil {
				b.Skip(err)
			}
			s := executortest.Start(1, 64, 1000)
			s.Argv = []string{program}
			tasks := make(chan struct{})
			var work sync.WaitGroup
			b.ReportAllocs()
			for range atOnce {
				work.Go(func() {
					for range tasks {
						if r := p.Run(b.Context(), s); r.Outcome != cluster.Finished {
							b.Errorf("%+v", r)
						}
					}
				})
			}
			for b.Loop() {
				tasks <- struct{}{}
			}
			close(tasks)
			work.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
			if err := p.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}
