package docker

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
)

func TestOutcomes(t *testing.T) {
	const partial = "a part was out of memory, at the limit, and the rest ended well"
	never, atOnce, late := func(int) bool { return false }, func(int) bool { return true }, func(looks int) bool { return looks == 4 }
	for _, c := range []struct {
		name    string
		code    int
		oom     func(int) bool
		outcome cluster.Outcome
		reason  string
	}{
		{"success", 0, never, cluster.Finished, ""},
		{"success although something was killed", 0, atOnce, cluster.Finished, ""},
		{partial, 0, atOnce, cluster.Failed,
			`killed: it needs more memory than its demand, 64 MiB; raise memory_mb of task type boxed, mode "any"`},
		{"failure", 3, never, cluster.Failed, "exit status 3\nlast words"},
		{"killed by somebody", 137, never, cluster.Failed, "exit status 137\nlast words"},
		{"out of memory", 137, atOnce, cluster.Failed,
			`killed: it needs more memory than its demand, 64 MiB; raise memory_mb of task type boxed, mode "any"`},
		{"out of memory, as the engine says late", 137, late, cluster.Failed,
			`killed: it needs more memory than its demand, 64 MiB; raise memory_mb of task type boxed, mode "any"`},
		{"a child was out of memory", 1, atOnce, cluster.Failed,
			`killed: it needs more memory than its demand, 64 MiB; raise memory_mb of task type boxed, mode "any"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(time.Second, c.code, "last words")
				f.oom, f.sample.MemoryStats.Usage = c.oom, 5<<20
				if c.name == partial {
					f.sample.MemoryStats.Usage = 64 << 20
				}
				begin := time.Now()
				r := f.executor().Run(t.Context(), contained(1, 64))
				if r.Outcome != c.outcome || r.ExitCode != c.code || r.Reason != c.reason || r.Output != "last words" {
					t.Errorf("%+v", r)
				}
				if took := time.Since(begin); took > time.Second && c.code != killedCode {
					t.Errorf("the end is plain, yet it took %v", took)
				}
				oom := strings.HasPrefix(r.Reason, "killed")
				if r.OutOfMemory != oom || (r.PeakMemory == 64) != oom || (r.PeakMemory == 5) == oom {
					t.Errorf("out of memory: %v, %d MiB", r.OutOfMemory, r.PeakMemory)
				}
			})
		})
	}
}
