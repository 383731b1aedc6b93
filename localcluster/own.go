package localcluster

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/internal/wholefile"
)

// Own is a cluster for one command on this machine: one scheduler and one worker, which runs whatever this process's user
// may run.
type Own struct {
	Slots  int    // tasks at a time; 0: one per core
	Limits bool   // hold tasks to their demand, where this process may do that
	Images bool   // tasks run in containers
	Folder string // for what tasks print, and whatever else is gone afterwards
}

// Machine is what this process may use of its machine.
func Machine() (conf.Class, error) { return assemble.Detected() }

// Config is the configuration of such a cluster on a machine.
func (o Own) Config(machine conf.Class) *conf.Config {
	c := conf.Default()
	machine.Count, machine.Name = 1, "here"
	c.Classes = []conf.Class{machine}
	c.Scheduler.Replicas, c.Worker.Slots = 1, o.Slots
	c.Datastore.B, c.Scheduler.BDelta = ownBatch, ownBatch // there is one worker: every view of it leads to the same choice
	c.Process.Allow, c.Process.Workdirs, c.Process.Cgroup = []string{"*"}, []string{"*"}, "off"
	c.Process.User = strconv.Itoa(os.Geteuid()) // whoever typed the command, root included
	if o.Limits {
		c.Process.Cgroup = "auto"
	}
	if o.Images {
		c.Docker.Images = []string{"*"}
	}
	c.Worker.Spool = filepath.Join(o.Folder, "spool")
	c.Worker.SpoolTaskMB, c.Worker.SpoolMB = ownSpool, ownSpool
	c.Scheduler.DrainTimeout, c.Worker.DrainTimeout = ownDrain, ownDrain
	return c
}

// ownBatch is how many placements share a message to the data service.
const ownBatch = 256

// ownSpool is how much of what tasks print is kept, in MiB: it is read as they end, and what is older goes first.
const ownSpool = 16 << 10

// ownDrain is how long what still runs may go on: somebody has sent two signals.
const ownDrain = conf.Duration(time.Second)

// StartOwn starts such a cluster, which nobody else can reach, and returns when it takes tasks.
func StartOwn(ctx context.Context, c *conf.Config, log *slog.Logger) (*Cluster, error) {
	if err := os.MkdirAll(c.Worker.Spool, wholefile.FolderMode); err != nil {
		return nil, err
	}
	l, err := Start(c, log, NewPrivate())
	if err != nil {
		return nil, err
	}
	if err := l.AwaitWorkers(ctx); err != nil {
		l.Stop()
		return nil, err
	}
	return l, nil
}

// Worker is a connection to the worker at an address; whoever asks for it closes it.
func (l *Cluster) Worker(address string) *rpc.WorkerClient {
	return rpc.NewWorkerClient(address, l.Dimensions, l.clientRPC)
}

// Nodes are the workers that are registered.
func (l *Cluster) Nodes(ctx context.Context) ([]cluster.NodeStatus, error) {
	status, err := l.Data.Status(ctx)
	return status.Nodes, err
}
