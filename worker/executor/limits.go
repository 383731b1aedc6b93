package executor

import (
	"dodoor/internal/cluster"
	"dodoor/worker"
)

// What the kernel and a container engine need at least. Demands below are raised to it: the difference is
// smaller than what the engine itself takes to look after a container.
const (
	LeastMillicores = 10
	LeastMemory     = 6 // MiB
)

// MillicoreLimit is what a task that is held to its demand may use of the CPU.
func MillicoreLimit(s *worker.Start) int64 {
	return max(s.Shape.Demand[cluster.Cores], LeastMillicores)
}

// MemoryLimit is what a task that is held to its demand may hold, in MiB. A command that demands none has no limit, 0.
func MemoryLimit(s *worker.Start) int64 {
	if s.Command != nil && s.Shape.Demand[cluster.Memory] == 0 {
		return 0
	}
	return max(s.Shape.Demand[cluster.Memory], LeastMemory)
}

// MiB is a number of bytes in MiB, rounded up.
func MiB(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }
