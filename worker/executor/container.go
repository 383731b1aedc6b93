package executor

import (
	"fmt"
	"strconv"

	"github.com/docker/docker/api/types/container"

	"dodoor/internal/cluster"
	"dodoor/worker"
)

// What the kernel and the engine need at least. Demands below are raised to it: the difference is
// smaller than what the engine itself takes to look after a container.
const (
	leastMillicores = 10
	leastMemory     = 6 // MiB
)

// What the log of a container may take on the engine's disk: two files, of which the older goes when the
// newer is full. The end of the output is always there.
var logLimits = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "64k", "max-file": "2"}}

// Containers go before workers when the machine itself runs short of memory.
const firstToGo = 500

// program is what runs in a task's container: the type's arguments, after the image's entry point if it
// has one, and nothing that the image would run beside it.
func (d *Docker) program(s *worker.Start) *container.Config {
	return &container.Config{
		Image: s.Image, Cmd: s.Argv, User: d.cfg.User,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      map[string]string{workerLabel: d.cfg.Worker, taskLabel: s.TaskID, ownerLabel: d.owner},
	}
}

// confinement is what a task's container may take and do: its demand, no swap, no network, no files of
// its own but in memory, and no way to more rights.
func (d *Docker) confinement(s *worker.Start) *container.HostConfig {
	pids, memory := int64(d.cfg.PidsLimit), memoryLimit(s)<<20
	h := &container.HostConfig{
		Resources: container.Resources{
			NanoCPUs: max(s.Shape.Demand[cluster.Cores], leastMillicores) * 1e6,
			Memory:   memory, MemorySwap: memory, // the sum of both
			PidsLimit: &pids,
		},
		NetworkMode:    "none",
		ReadonlyRootfs: true,
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		OomScoreAdj:    firstToGo,
		LogConfig:      logLimits,
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		IpcMode:        container.IPCModeNone,
	}
	if size := d.cfg.TmpfsMB; size > 0 {
		h.Tmpfs = map[string]string{"/tmp": "rw,noexec,nosuid,nodev,mode=1777,size=" + strconv.FormatInt(size, 10) + "m"}
		h.IpcMode, h.ShmSize = container.IPCModePrivate, size<<20 // /dev/shm
	}
	return h
}

// memoryLimit is in MiB.
func memoryLimit(s *worker.Start) int64 { return max(s.Shape.Demand[cluster.Memory], leastMemory) }

// outOfMemory says what to do about a task that was killed at its limit.
func outOfMemory(s *worker.Start) string {
	return fmt.Sprintf("killed: it needs more memory than its demand, %d MiB; raise memory_mb of task type %s, mode %q", memoryLimit(s), s.Type, s.Mode)
}
