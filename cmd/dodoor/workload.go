package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
)

// newWorkload reads or makes the trace that the configuration names, and paces it.
func newWorkload(c *conf.Config, idPrefix string) (*generator.Workload, error) {
	g := &c.Generator
	requests, err := readRequests(c)
	if err != nil {
		return nil, err
	}
	return generator.NewWorkload(requests, generator.Options{
		N: g.N, IDPrefix: idPrefix, NoDisk: !managesDisk(c),
		Pacing: generator.Pacing{QPS: g.QPS, TraceScale: g.TraceScale, TimeScale: g.TimeScale, Seed: c.Seed},
	})
}

func readRequests(c *conf.Config) ([]generator.Request, error) {
	switch g := &c.Generator; g.Trace {
	case "azure":
		return generator.Azure(g.N, c.Seed)
	case "functionbench":
		types := c.TaskTypes()
		class, err := generator.ReferenceFor(types, classNames(c), generator.ShortOnly)
		if err != nil {
			return nil, fmt.Errorf("trace functionbench: %w", err)
		}
		return generator.FunctionBench(types, class, generator.ShortOnly, g.N, c.Seed)
	default:
		dims, err := c.Dimensions()
		if err != nil {
			return nil, err
		}
		file, err := os.Open(g.Trace)
		if err != nil {
			return nil, fmt.Errorf("trace: %w (or name a synthetic one: azure, functionbench)", err)
		}
		defer file.Close()
		requests, err := generator.ReadTrace(file, dims, g.N)
		if err != nil {
			return nil, fmt.Errorf("trace %s: %w", g.Trace, err)
		}
		return requests, nil
	}
}

// managesDisk reports whether any node declares a disk. A cluster that declares none does not manage
// disks, as in the paper, and what a trace says about them is left out.
func managesDisk(c *conf.Config) bool {
	for _, class := range c.Classes {
		if class.DiskMB > 0 {
			return true
		}
	}
	return false
}

// runInfo describes a run: everything that its rows do not say.
func runInfo(c *conf.Config, on string, nodes []cluster.Node) (generator.RunInfo, error) {
	info := generator.RunInfo{Policy: c.Scheduler.Policy, On: on, Trace: c.Generator.Trace, QPS: c.Generator.QPS, TraceScale: c.Generator.TraceScale,
		Seed: c.Seed, Classes: generator.ClassesOf(nodes), Versions: versions()}
	info.Host, _ = os.Hostname()
	var err error
	info.Settings, err = settings(c)
	return info, err
}

// settings is the whole configuration by section, as a run's description keeps it.
func settings(c *conf.Config) (map[string]any, error) {
	text, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, toml.Unmarshal(text, &all)
}

// differs returns the first key in which two configurations differ, or "". Where rows are written, and how
// loud the log is, does not matter.
func differs(a, b map[string]any, prefix string) string {
	keys := slices.Sorted(maps.Keys(a))
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		path := prefix + key
		if path == "generator.out" || path == "log" || path == "http" {
			continue
		}
		x, xok := a[key].(map[string]any)
		y, yok := b[key].(map[string]any)
		if xok && yok {
			if inner := differs(x, y, path+"."); inner != "" {
				return inner
			}
			continue
		}
		if jsonText(a[key]) != jsonText(b[key]) {
			return path
		}
	}
	return ""
}

// jsonText makes values comparable that went through JSON (where every number is a float) and others.
func jsonText(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}

// runDir names the directory of a run inside the configured one.
func runDir(c *conf.Config) string {
	name := fmt.Sprintf("%s-qps%g-seed%d-%s", c.Scheduler.Policy, c.Generator.QPS, c.Seed, time.Now().Format("20060102-150405.000"))
	return filepath.Join(c.Generator.Out, name)
}
