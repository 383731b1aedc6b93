package process

import (
	"testing"

	"dodoor/worker/executor/executortest"
)

// What a task costs that does nothing, and one that prints a line.
func BenchmarkRun(b *testing.B) {
	for name, argv := range map[string][]string{"silent": {"/bin/true"}, "line": {"/bin/echo", "hello"}} {
		b.Run(name, func(b *testing.B) {
			p, err := New(Config{Allow: []string{argv[0]}, Cgroup: off, Worker: "bench"})
			if err == nil {
				err = p.Check()
			}
			if err != nil {
				b.Fatal(err)
			}
			s := executortest.Start(1, 64, 0)
			s.Argv = argv
			b.ReportAllocs()
			for b.Loop() {
				executortest.Finished(b, p.Run(b.Context(), s))
			}
		})
	}
}
