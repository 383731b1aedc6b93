package assemble

import (
	"encoding/json"
	"fmt"

	"dodoor/internal/keeper"
	"dodoor/worker/executor/confine"
	"dodoor/worker/executor/docker"
	"dodoor/worker/executor/process"
)

// estate is what an executor may leave outside this process, should that be killed: a note for its keeper.
type estate struct {
	Executor string
	Worker   string
	User     int    // whom programs run as
	Host     string `json:",omitempty"` // of the container engine
}

func leaves(e estate) {
	if note, err := json.Marshal(e); err == nil {
		keeper.Note(string(note))
	}
}

// KillGroups kills what runs in control groups of a process that is gone, by a note of it.
func KillGroups(note string) {
	var e estate
	if json.Unmarshal([]byte(note), &e) == nil && programs(e.Executor) {
		confine.Sweep(e.Worker)
	}
}

// Sweep removes what a process has left that is gone, by a note of it.
func Sweep(note string) error {
	var e estate
	if err := json.Unmarshal([]byte(note), &e); err != nil {
		return fmt.Errorf("a note of what there is to remove: %w", err)
	}
	if e.Executor == "docker" {
		return docker.Sweep(docker.Config{Host: e.Host, Worker: e.Worker})
	}
	process.Sweep(e.Worker, e.User)
	return nil
}
