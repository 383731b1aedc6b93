package campaign

import (
	"fmt"
	"strings"
	"time"

	"dodoor/conf"
)

// Cell is one simulated setting. It is run with every seed.
type Cell struct {
	Profile string // of package conf
	Trace   string // azure, functionbench, or a file
	Policy  string
	QPS     float64
	N       int      // tasks, warm-up included
	Sets    []string // further overrides, key=value
	Seeds   int      // at most so many, because it takes long; 0: as many as there are
	Large   bool     // needs gigabytes: no two such cells run at the same time
}

// with returns the setting with further overrides.
func (c Cell) with(sets ...string) Cell {
	c.Sets = append(c.Sets[:len(c.Sets):len(c.Sets)], sets...)
	return c
}

// under returns the setting under another policy.
func (c Cell) under(policy string) Cell {
	c.Policy = policy
	return c
}

func (c *Cell) key() string { return fmt.Sprintf("%+v", *c) }

// sets are the setting's overrides.
func (c *Cell) sets() []string {
	return append([]string{
		fmt.Sprintf("scheduler.policy=%q", c.Policy),
		fmt.Sprintf("generator.trace=%q", c.Trace),
		fmt.Sprintf("generator.qps=%g", c.QPS),
		fmt.Sprintf("generator.n=%d", c.N),
	}, c.Sets...)
}

// profiles are those of package conf that have been read.
type profiles map[string]*conf.Base

// config loads the setting as -conf and -set would.
func (p profiles) config(c *Cell) (*conf.Config, error) {
	var err error
	if p[c.Profile] == nil {
		p[c.Profile], err = conf.Read(c.Profile)
	}
	if err == nil {
		var loaded *conf.Config
		if loaded, err = p[c.Profile].With(c.sets()); err == nil {
			return loaded, nil
		}
	}
	return nil, fmt.Errorf("setting %s: %w", c.key(), err)
}

// The traces, and how many tasks of them are replayed. The paper replays 4,000 VM requests and 100,000
// functions (Sec. 6.2 and 6.3); what goes beyond the paper makes do with fewer.
const (
	functionBenchTrace = "functionbench"
	paperTasks         = 100_000
	azureTasks         = 4000
	studyTasks         = 50_000
	fewTasks           = 20_000 // at rates at which more would take hours
)

// functions is FunctionBench in its short mode on the paper's cluster.
func functions(o Options, policy string, qps float64, n int) Cell {
	return Cell{Profile: "paper", Trace: functionBenchTrace, Policy: policy, QPS: qps, N: o.tasks(n)}
}

// machines is the Azure replay on the paper's cluster.
func machines(o Options, policy string, qps float64) Cell {
	c := Cell{Profile: "paper", Trace: "azure", Policy: policy, QPS: qps, N: o.tasks(azureTasks)}
	if o.Azure != "" {
		c.Trace = o.Azure
	}
	return c
}

// A quick campaign has a hundredth of the tasks, but more than are left out as warm-up.
const (
	quickShare = 100
	quickLeast = 300
)

func (o *Options) tasks(n int) int {
	if o.Quick {
		return max(n/quickShare, quickLeast)
	}
	return n
}

// moment is a time in a run of n tasks, earlier where there are fewer tasks.
func (o *Options) moment(at time.Duration, n int) time.Duration {
	return at * time.Duration(o.tasks(n)) / time.Duration(n)
}

// overrides are settings from words and values: overrides("a", 1, "b", true) is a=1, b=true.
func overrides(pairs ...any) []string {
	var sets []string
	for i := 0; i+1 < len(pairs); i += 2 {
		sets = append(sets, fmt.Sprintf("%v=%v", pairs[i], pairs[i+1]))
	}
	return sets
}

// shortName shortens a file to its name.
func shortName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
