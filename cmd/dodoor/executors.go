package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/telemetry"
	"dodoor/worker"
	"dodoor/worker/executor"
	"dodoor/worker/workerd"
)

// newWorker builds one worker of the class and name that the configuration gives it.
func newWorker(c *conf.Config, log *slog.Logger, metrics *telemetry.Registry) (*workerd.Daemon, error) {
	dims, err := c.Dimensions()
	if err != nil {
		return nil, err
	}
	node, err := workerNode(c, dims)
	if err != nil {
		return nil, err
	}
	executors, kinds, err := newExecutors(c, log)
	if err != nil {
		return nil, err
	}
	w := &c.Worker
	daemon, err := workerd.New(workerd.Config{
		Node: worker.Config{
			Node: node, Dimensions: dims, Types: c.TaskTypes(), Executors: kinds, Executor: w.Executor, Limits: workerLimits(c),
		},
		Executors: executors, Listen: w.Listen, Address: w.Address, DataService: c.Datastore.DialAddress(), RPC: rpcConfig(c, w.MaxRPCs), MaxBatch: batch(c),
		Heartbeat: time.Duration(w.Heartbeat), DrainTimeout: time.Duration(w.DrainTimeout), Log: log, Metrics: metrics,
	})
	if err != nil {
		return nil, errors.Join(err, workerd.CloseExecutors(executors))
	}
	return daemon, nil
}

// newExecutors makes the executors that this worker's task types ask for, and checks that what they
// need is installed. The worker closes them.
func newExecutors(c *conf.Config, log *slog.Logger) (map[string]workerd.Executor, []worker.Executor, error) {
	executors := map[string]workerd.Executor{}
	var kinds []worker.Executor
	for _, name := range wantedExecutors(c) {
		e, err := readyExecutor(name, c, log)
		if err != nil {
			return nil, nil, errors.Join(err, workerd.CloseExecutors(executors))
		}
		executors[name] = e
		kinds = append(kinds, worker.Executor{Name: name, Emulates: e.Emulates()})
	}
	return executors, kinds, nil
}

// checkedExecutor says whether what it needs is installed, and whether it only passes the time.
type checkedExecutor interface {
	workerd.Executor
	Check() error
	Emulates() bool
}

// readyExecutor makes an executor that can run tasks.
func readyExecutor(name string, c *conf.Config, log *slog.Logger) (checkedExecutor, error) {
	e, err := newExecutor(name, c)
	if err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, errors.Join(err, workerd.CloseExecutors(map[string]workerd.Executor{name: e}))
	}
	if s, ok := e.(interface{ Swept() int }); ok && s.Swept() > 0 {
		log.Warn("removed what earlier processes of this worker had left behind", "worker", c.Worker.Name, "executor", name, "removed", s.Swept())
	}
	if u, ok := e.(interface{ Unlimited() error }); ok && u.Unlimited() != nil {
		log.Warn("tasks may take more than their demand", "worker", c.Worker.Name, "reason", u.Unlimited())
	}
	return e, nil
}

// newExecutor makes the executor of one worker, whose name goes on everything that it leaves outside
// this process.
func newExecutor(name string, c *conf.Config) (checkedExecutor, error) {
	switch name {
	case "sleep":
		return executor.Sleep(emulation(c)), nil
	case "stress-ng":
		return executor.StressNG{}, nil
	case "docker":
		d := &c.Docker
		return executor.NewDocker(executor.DockerConfig{Host: d.Host, User: d.User, PidsLimit: d.PidsLimit, TmpfsMB: d.TmpfsMB, Worker: c.Worker.Name,
			Images: images(c)})
	case "process":
		return executor.NewProcess(executor.ProcessConfig{Allow: c.Process.Allow, Cgroup: c.Process.Cgroup, Worker: c.Worker.Name})
	}
	return nil, fmt.Errorf("no executor is called %q", name)
}

// images lists what the configuration's types run, each once.
func images(c *conf.Config) []string {
	var names []string
	for i := range c.Types {
		if name := c.Types[i].Image; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// workerNode describes the node that the configuration gives this worker.
func workerNode(c *conf.Config, dims cluster.Dimensions) (cluster.Node, error) {
	class, ok := c.Class(c.Worker.Class)
	if !ok {
		return cluster.Node{}, fmt.Errorf("worker %s needs a class (-class): one of %s", c.Worker.Name, strings.Join(classNames(c), ", "))
	}
	return cluster.Node{Name: c.Worker.Name, Class: class.Name, Capacity: class.Capacity(dims), Slots: c.SlotsOn(class)}, nil
}

// eachWorker calls do with the configuration of every worker of a whole cluster, by class: their names are
// <class>-1, <class>-2 ...
func eachWorker(c conf.Config, do func(own *conf.Config) error) error {
	for _, class := range c.Classes {
		for i := range class.Count {
			c.Worker.Class, c.Worker.Name = class.Name, fmt.Sprintf("%s-%d", class.Name, i+1)
			if err := do(&c); err != nil {
				return err
			}
		}
	}
	return nil
}

func classNames(c *conf.Config) []string {
	var names []string
	for _, class := range c.Classes {
		names = append(names, class.Name)
	}
	return names
}

// wantedExecutors lists the executors in use, each once.
func wantedExecutors(c *conf.Config) []string {
	if c.Worker.Executor != "" {
		return []string{c.Worker.Executor}
	}
	var names []string
	for i := range c.Types {
		if name := c.Types[i].Executor; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
