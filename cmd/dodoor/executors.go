package main

import (
	"fmt"
	"log/slog"
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
	executors, kinds, err := newExecutors(c)
	if err != nil {
		return nil, err
	}
	w := &c.Worker
	return workerd.New(workerd.Config{
		Node: worker.Config{
			Node: node, Dimensions: dims, Types: c.TaskTypes(), Executors: kinds, Executor: w.Executor, Limits: workerLimits(c),
		},
		Executors: executors, Listen: w.Listen, Address: w.Address, DataService: c.Datastore.DialAddress(), RPC: rpcConfig(c, w.MaxRPCs), MaxBatch: batch(c),
		Heartbeat: time.Duration(w.Heartbeat), DrainTimeout: time.Duration(w.DrainTimeout), Log: log, Metrics: metrics,
	})
}

// newExecutors makes the executors that this worker's task types ask for, and checks that what they
// need is installed.
func newExecutors(c *conf.Config) (map[string]workerd.Executor, []worker.Executor, error) {
	executors := map[string]workerd.Executor{}
	var kinds []worker.Executor
	for _, name := range wantedExecutors(c) {
		e, known := newExecutor(name, c)
		if !known {
			return nil, nil, fmt.Errorf("no executor is called %q", name)
		}
		if err := e.Check(); err != nil {
			return nil, nil, err
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

func newExecutor(name string, c *conf.Config) (checkedExecutor, bool) {
	switch name {
	case "sleep":
		return executor.Sleep(emulation(c)), true
	case "stress-ng":
		return executor.StressNG{}, true
	}
	return nil, false
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
	seen := map[string]bool{}
	for _, t := range c.Types {
		if !seen[t.Executor] {
			seen[t.Executor] = true
			names = append(names, t.Executor)
		}
	}
	return names
}
