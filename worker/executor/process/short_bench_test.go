package process

import (
	"os"
	"sync"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/procgroup"
	"dodoor/worker/executor/executortest"
)

// The least that a task costs: programs that do nothing, sixteen at a time.
func BenchmarkShortPrograms(b *testing.B) {
	const atOnce, program = 16, "/bin/true"
	for _, c := range []struct{ mode, user string }{{off, "root"}, {auto, "root"}, {auto, "nobody"}} {
		b.Run("cgroup="+c.mode+"/"+c.user, func(b *testing.B) {
			b.Setenv("TMPDIR", b.TempDir())
			reachable(b, os.TempDir())
			user, err := procgroup.FindUser(c.user)
			if err != nil {
				b.Skip(err)
			}
			p, err := New(Config{Allow: []string{program}, Cgroup: c.mode, Worker: "bench", User: user, PidsLimit: 256})
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
