package docker

import (
	"strconv"

	"github.com/docker/docker/api/types/container"

	"dodoor/worker"
	"dodoor/worker/executor"
)

// What the log of a container may take on the engine's disk: two files, of which the older goes when the
// newer is full. The end of the output is always there.
var logLimits = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "64k", "max-file": "2"}}

// Containers go before workers when the machine itself runs short of memory.
const oomScore = 500

// program is what runs in a task's container: the type's arguments, after the image's entry point if it
// has one, and nothing that the image would run beside it.
func (d *Executor) program(s *worker.Start) *container.Config {
	return &container.Config{
		Image: s.Image, Cmd: s.Argv, User: d.cfg.User, Env: executor.DeviceEnv(s, true),
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels:      map[string]string{workerLabel: d.cfg.Worker, taskLabel: s.TaskID, ownerLabel: d.owner},
	}
}

// confinement is what a task's container may take and do: its demand, its devices, no swap, no network, no files of
// its own but in memory, and no way to more rights.
func (d *Executor) confinement(s *worker.Start) *container.HostConfig {
	pids, memory := int64(d.cfg.PidsLimit), executor.MemoryLimit(s)<<20
	h := &container.HostConfig{
		Resources: container.Resources{
			NanoCPUs: executor.MillicoreLimit(s) * 1e6,
			Memory:   memory, MemorySwap: memory, // the sum of both
			PidsLimit: &pids, DeviceRequests: deviceRequests(s),
		},
		NetworkMode:    "none",
		ReadonlyRootfs: true,
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		OomScoreAdj:    oomScore,
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

// deviceRequests asks the engine for the task's devices, where it has a driver for them.
func deviceRequests(s *worker.Start) (requests []container.DeviceRequest) {
	for _, d := range s.Devices {
		if d.Driver != "" && len(d.IDs) > 0 {
			requests = append(requests, container.DeviceRequest{Driver: d.Driver, DeviceIDs: d.IDs, Capabilities: [][]string{{"gpu"}}})
		}
	}
	return requests
}
