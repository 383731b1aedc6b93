package assemble

import (
	"fmt"
	"os"

	"dodoor/conf"
	"dodoor/generator"
)

// Workload reads or makes the trace that the configuration names, and paces it. The ids of its tasks begin with
// idPrefix.
func Workload(c *conf.Config, idPrefix string) (*generator.Workload, error) {
	g := &c.Generator
	requests, err := readRequests(c)
	if err != nil {
		return nil, err
	}
	return generator.NewWorkload(requests, generator.Options{
		N: g.N, IDPrefix: idPrefix, NoDisk: !c.ManagesDisk(),
		Pacing: generator.Pacing{QPS: g.QPS, Burst: g.Burst, TraceScale: g.TraceScale, TimeScale: g.TimeScale, Seed: c.Seed,
			WholeMilliseconds: c.Sim.TruncatedGaps()},
	})
}

func readRequests(c *conf.Config) ([]generator.Request, error) {
	switch g := &c.Generator; g.Trace {
	case "azure":
		return generator.Azure(g.N, c.Seed)
	case "functionbench":
		types := c.TaskTypes()
		class, err := generator.ReferenceFor(types, c.ClassNames(), generator.ShortOnly)
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
