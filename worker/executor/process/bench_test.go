package process

import (
	"strconv"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
	"dodoor/worker/spool"
)

// What a task costs that does nothing, and one that prints a line: of a configured type, and as a command, whose line is
// spooled.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		argv []string
	}{{"silent", []string{"/bin/true"}}, {"line", []string{"/bin/echo", "hello"}}} {
		b.Run(c.name, func(b *testing.B) {
			s := executortest.Start(1, 64, 0)
			s.Argv = c.argv
			benchmark(b, s, c.argv[0])
		})
		b.Run("command/"+c.name, func(b *testing.B) {
			benchmark(b, command(cluster.Template{Argv: c.argv}, 1), c.argv[0])
		})
	}
}

func benchmark(b *testing.B, s worker.Start, program string) {
	output, err := spool.New(spool.Config{Worker: "bench", Folder: b.TempDir(), TaskBytes: 1 << 20, Bytes: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer output.Close()
	p, err := New(Config{Allow: []string{program}, Cgroup: off, Worker: "bench", Spool: output})
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.TaskID = strconv.Itoa(i)
		executortest.Finished(b, p.Run(b.Context(), s))
	}
}
