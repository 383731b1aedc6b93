package assemble

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"dodoor/conf"
	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
	"dodoor/internal/keeper"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/executor/confine"
	"dodoor/worker/executor/docker"
	"dodoor/worker/executor/process"
	"dodoor/worker/executor/stressng"
	"dodoor/worker/spool"
	"dodoor/worker/workerd"
)

// Worker builds one worker of the class and name that the configuration gives it.
func Worker(c *conf.Config, site Site) (*workerd.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	self, err := node(c, dims)
	if err != nil {
		return nil, err
	}
	if err := readable(c, site.Log); err != nil {
		return nil, err
	}
	connections, err := site.rpc(c, conf.RoleWorker, c.Worker.MaxRPCs)
	if err != nil {
		return nil, err
	}
	output, err := newSpool(c)
	if err != nil {
		return nil, err
	}
	executors, kinds, err := newExecutors(c, site.Log, output)
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	w := &c.Worker
	daemon, err := workerd.New(workerd.Config{
		Node: worker.Config{
			Node: self, Dimensions: dims, Types: c.TaskTypes(), Executors: kinds, Executor: w.Executor, Limits: workerLimits(c),
			Devices: c.DevicesOf(dims, &self.Capacity), Reestimate: w.Reestimate,
		},
		Executors: executors, Spool: output,
		Listen: w.Listen, Address: w.Address, DataService: c.Datastore.DialAddress(), RPC: connections,
		MaxBatch: batch(c), Heartbeat: time.Duration(w.Heartbeat), DrainTimeout: time.Duration(w.DrainTimeout),
		Lost: keeper.Lost(), Log: site.Log, Metrics: site.Metrics, Setup: site.setup(),
	})
	if err != nil {
		return nil, errors.Join(err, workerd.CloseExecutors(executors), output.Close())
	}
	return daemon, nil
}

// newSpool returns where the commands of a worker leave their output; nil: it runs none, and has no folder of its own.
func newSpool(c *conf.Config) (*spool.Spool, error) {
	if c.Worker.Spool == "" && (c.Worker.Executor == "sleep" || len(c.Process.Allow)+len(c.Docker.Images) == 0) {
		return nil, nil
	}
	w, folder := &c.Worker, ""
	var user *procgroup.User // of programs; containers have a number of their own
	var own *procgroup.Accounts
	if len(c.Process.Allow) > 0 {
		var err error
		if user, err = procgroup.FindUser(c.Process.User); err != nil {
			return nil, fmt.Errorf("executor process: %w", err)
		}
		own = accounts(c)
	}
	if w.Spool != "" {
		var err error
		if folder, err = ownFolder(w.Spool, w.Name); err != nil {
			return nil, fmt.Errorf("worker %s: worker.spool: %w", w.Name, err)
		}
	}
	return spool.New(spool.Config{Worker: w.Name, Folder: folder, TaskBytes: w.SpoolTaskMB << 20, Bytes: w.SpoolMB << 20,
		Give: gives(own, user)})
}

// gives returns what makes a file that a command prints to its submitter's. For one whom no program runs as, only containers print, which
// do not open their files: these stay the worker's.
func gives(own *procgroup.Accounts, user *procgroup.User) func(submitter string, file *os.File) error {
	return func(submitter string, file *os.File) error {
		to, err := own.Of(submitter, user)
		if err != nil {
			return nil
		}
		return to.Give(file)
	}
}

// accounts are whom tasks run as that somebody in particular submits; nil: one user, all of them.
func accounts(c *conf.Config) *procgroup.Accounts {
	if c.Process.User == procgroup.Submitter {
		return procgroup.NewAccounts(procgroup.ByName)
	}
	return nil
}

// newExecutors makes the executors that this worker's task types and commands ask for, and checks that what they
// need is installed. The worker closes them.
func newExecutors(c *conf.Config, log *slog.Logger, output *spool.Spool) (map[string]executor.Executor, []worker.Executor, error) {
	executors := map[string]executor.Executor{}
	var kinds []worker.Executor
	for _, name := range Executors(c) {
		e, err := checked(name, c, log, output)
		if err != nil {
			return nil, nil, errors.Join(err, workerd.CloseExecutors(executors))
		}
		executors[name] = e
		kinds = append(kinds, worker.Executor{Name: name, Emulates: e.Emulates()})
	}
	return executors, kinds, nil
}

// Executor makes an executor of the worker that the configuration names, and checks that it can run tasks. Whoever
// asks for it closes it.
func Executor(name string, c *conf.Config, log *slog.Logger) (executor.Executor, error) {
	return checked(name, c, log, nil)
}

// checked makes an executor whose commands print to a spool.
func checked(name string, c *conf.Config, log *slog.Logger, output *spool.Spool) (executor.Executor, error) {
	e, err := newExecutor(name, c, output)
	if err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, errors.Join(err, workerd.CloseExecutors(map[string]executor.Executor{name: e}))
	}
	if programs(name) && c.Process.User == "" && os.Geteuid() == 0 {
		asNobody.Do(func() { log.Info("tasks run as nobody, since this worker is root's: process.user names another user") })
	}
	if n := e.Swept(); n > 0 {
		log.Warn("removed what earlier processes of this worker had left behind", "worker", c.Worker.Name, "executor", name, "removed", n)
	}
	if reason := e.Unlimited(); reason != nil {
		log.Warn("tasks may take more than their demand", "worker", c.Worker.Name, "reason", reason)
	}
	return e, nil
}

// asNobody is said once in a process, however many workers it has.
var asNobody sync.Once

// programs reports whether an executor runs programs of this machine.
func programs(name string) bool { return name == "process" || name == "stress-ng" }

// newExecutor makes the executor of one worker, whose name goes on everything that it leaves outside
// this process.
func newExecutor(name string, c *conf.Config, output *spool.Spool) (executor.Executor, error) {
	var user *procgroup.User
	if programs(name) {
		var err error
		if user, err = procgroup.FindUser(c.Process.User); err != nil {
			return nil, fmt.Errorf("executor %s: %w", name, err)
		}
	}
	switch name {
	case "sleep":
		return executor.Sleep{Emulation: emulation(c)}, nil
	case "stress-ng":
		leaves(estate{Executor: name, Worker: c.Worker.Name, User: user.Owner()})
		rule, err := confine.New(confine.Config{Executor: name, Worker: c.Worker.Name, Cgroup: c.Process.Cgroup, PidsLimit: c.Process.PidsLimit,
			User: user})
		if err != nil {
			return nil, err
		}
		return stressng.New(rule), nil
	case "docker":
		d := &c.Docker
		leaves(estate{Executor: name, Worker: c.Worker.Name, Host: d.Host})
		return docker.New(docker.Config{Host: d.Host, User: d.User, PidsLimit: d.PidsLimit, TmpfsMB: d.TmpfsMB, Worker: c.Worker.Name,
			Images: images(c), Commands: d.Images, Spool: output})
	case "process":
		own, owner := accounts(c), user.Owner()
		if own != nil {
			owner = process.Anybody
		}
		leaves(estate{Executor: name, Worker: c.Worker.Name, User: owner})
		return process.New(process.Config{Allow: c.Process.Allow, Workdirs: c.Process.Workdirs, Cgroup: c.Process.Cgroup,
			PidsLimit: c.Process.PidsLimit, User: user, Accounts: own, Worker: c.Worker.Name, Spool: output})
	}
	return nil, fmt.Errorf("no executor is called %q", name)
}

// images lists what the configuration's types run, and the commands, each once.
func images(c *conf.Config) []string {
	var names []string
	for i := range c.Types {
		if name := c.Types[i].Image; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range executor.AllEntries(c.Docker.Images) {
		if name != "*" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// node describes the node that the configuration gives this worker.
func node(c *conf.Config, dims cluster.Dimensions) (cluster.Node, error) {
	class, ok := c.Class(c.Worker.Class)
	if c.Worker.Class == conf.AutoClass {
		own, err := Detected()
		if err != nil {
			return cluster.Node{}, fmt.Errorf("class %s of worker %s: %w", conf.AutoClass, c.Worker.Name, err)
		}
		class, ok = own, true
	}
	if !ok {
		return cluster.Node{}, fmt.Errorf("worker %s needs a class (-class): one of %s, or %s", c.Worker.Name,
			strings.Join(c.ClassNames(), ", "), conf.AutoClass)
	}
	return cluster.Node{Name: c.Worker.Name, Class: class.Name, Capacity: class.Capacity(dims), Slots: c.SlotsOn(class)}, nil
}

// Detected is the class that this process's machine would be, were it a node that nobody described.
func Detected() (conf.Class, error) {
	own, err := cgroup.Own("/", runtime.NumCPU())
	if err != nil {
		return conf.Class{}, err
	}
	return detected(own), nil
}

// detected is the class of a node that nobody described. Machines of one kind differ by a few megabytes from boot to boot,
// so memory goes down to a multiple of 64 MiB: they are of one class.
func detected(own cgroup.Capacity) conf.Class {
	const step = 64 << 20
	class := conf.Class{Cores: float64(own.Millicores) / 1000, MemoryMB: max(1, own.Memory/step*(step>>20))}
	class.Name = fmt.Sprintf("%s-%vc-%dm", conf.AutoClass, class.Cores, class.MemoryMB)
	return class
}

// EachWorker calls do with the configuration of every worker of a whole cluster, class by class.
func EachWorker(c conf.Config, do func(own *conf.Config) error) error {
	for _, class := range c.Classes {
		for i := range class.Count {
			c.Worker.Class, c.Worker.Name = class.Name, cluster.WorkerName(class.Name, i)
			if err := do(&c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Executors lists the executors in use, each once: those of the task types, and those that the configuration lets run commands.
func Executors(c *conf.Config) []string {
	if c.Worker.Executor != "" {
		return []string{c.Worker.Executor}
	}
	var names []string
	for i := range c.Types {
		if name := c.Types[i].Executor; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(c.Process.Allow) > 0 && !slices.Contains(names, "process") {
		names = append(names, "process")
	}
	if len(c.Docker.Images) > 0 && !slices.Contains(names, "docker") {
		names = append(names, "docker")
	}
	return names
}
