package executortest

import (
	"fmt"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// Start is a task of cores, MiB and milliseconds.
func Start(cores float64, memory, duration int64) worker.Start {
	return worker.Start{
		TaskID: "t", Seed: cluster.HashID("t"), TimeScale: 1,
		Shape: cluster.Shape{Demand: cluster.Resources{int64(cores * 1000), memory}, Duration: duration},
	}
}

// Finished fails the test for a task that has not.
func Finished(t testing.TB, r worker.Result) {
	t.Helper()
	if r.Outcome != cluster.Finished || r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}

// Throttled reads what the step "throttled" printed last: the cores of the task's group, and how often the kernel
// stopped it because it had used them up.
func Throttled(t testing.TB, r worker.Result) (cores float64, times int) {
	t.Helper()
	last := r.Output[strings.LastIndex(r.Output, "\n")+1:]
	if _, err := fmt.Sscanf(last, "cores %g stopped %d", &cores, &times); err != nil {
		t.Errorf("%q: %v", r.Output, err)
	}
	return cores, times
}
