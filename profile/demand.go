// Package profile makes of measured runs what schedulers have to know of a task before it runs: its
// demand and its duration on one class of nodes. Catalogues that were measured on several classes
// become one. It runs nothing itself.
package profile

import (
	"math"
	"time"

	"dodoor/conf"
)

// Run is one execution that finished, alone on its node.
type Run struct {
	Total      time.Duration // as a worker has it: from the call of the executor to its return
	Startup    time.Duration // part of Total: until the program itself began
	CPU        time.Duration
	PeakMemory int64 // MiB
}

// cores is how many cores the program kept busy on average.
func (r *Run) cores() float64 {
	if r.CPU <= 0 {
		return 0
	}
	return float64(r.CPU) / float64(max(r.Total-r.Startup, 1))
}

// A task that took a little more than ever before is not to be slowed down or killed for it.
const (
	leastCores   = 0.1
	coreSteps    = 10 // per core
	memoryMargin = 1.2
	spareMemory  = 8 // MiB; a container needs 6 to begin with
)

// Demand is what runs under a limit needed: the 95th percentile of the cores that they kept busy,
// rounded up to a tenth, but at least a tenth; the 99th percentile of their peak memory and a fifth
// more and 8 MiB, rounded up; and their mean duration, start-up included. It is never above the limit,
// which was enough.
func Demand(runs []Run, limit conf.Shape) conf.Shape {
	busy, memory := make([]float64, len(runs)), make([]int64, len(runs))
	for i := range runs {
		busy[i], memory[i] = runs[i].cores(), runs[i].PeakMemory
	}
	const noise = 1e-9 // of the division: 0.3 is not to become 0.4
	cores := math.Ceil(percentile(busy, 95)*coreSteps-noise) / coreSteps
	peak := math.Ceil(float64(percentile(memory, 99))*memoryMargin - noise)
	return conf.Shape{
		Cores:    min(max(cores, leastCores), limit.Cores),
		MemoryMB: min(int64(peak)+spareMemory, limit.MemoryMB),
		Duration: Duration(runs),
	}
}

// Duration is the mean duration of the runs, in whole milliseconds and at least one.
func Duration(runs []Run) conf.Duration {
	mean := StatisticsOf(runs).Mean.Round(time.Millisecond)
	return conf.Duration(max(mean, time.Millisecond))
}
