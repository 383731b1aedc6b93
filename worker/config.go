package worker

import (
	"fmt"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Config describes a node, what it can run, and the bounds on what it keeps.
type Config struct {
	Node       cluster.Node // Draining is ignored: a node starts open
	Dimensions cluster.Dimensions
	Types      []cluster.TaskType
	Executors  []Executor // what this node can run tasks with
	Executor   string     // runs every task, whatever its type says; empty: the type's own
	Reestimate bool       // what runs longer than estimated counts for longer in reports
	// Judge says why an executor may not run a command for a user here, if so. It is asked when a user's template is first seen,
	// and again after a while if it was refused. Nil: no command may run. What is emulated is not asked about.
	Judge   func(executor, user string, t *cluster.Template) error
	Devices map[string]Devices // by extra, where there is more to say than how many
	Limits  Limits
}

// Executor says what one executor can do.
type Executor struct {
	Name     string
	Emulates bool // it only passes the time, so time can be scaled
}

// Limits bounds what a node keeps.
type Limits struct {
	MaxQueue      int           // tasks waiting for the head of the line
	RetainResults int           // unacknowledged completions per scheduler
	RetainFor     time.Duration // age at which an unacknowledged completion is dropped
	// TimeoutFactor ends a task that ran for TimeoutFactor times its estimate; 0: estimates end
	// nothing.
	TimeoutFactor float64
}

// DefaultLimits keeps results for ten minutes and lets tasks run past their estimates.
func DefaultLimits() Limits {
	return Limits{MaxQueue: 1_000_000, RetainResults: 10_000, RetainFor: 10 * time.Minute}
}

func (c *Config) validate() error {
	n := &c.Node
	switch {
	case n.Name == "":
		return fmt.Errorf("the node has no name")
	case n.Slots < 1:
		return fmt.Errorf("node %s: %d slots: at least 1 is needed to run anything", n.Name, n.Slots)
	case n.Incarnation < 1:
		return fmt.Errorf("node %s: incarnation %d: it must be positive and grow with every restart", n.Name, n.Incarnation)
	case n.Capacity[cluster.Cores] == 0:
		return fmt.Errorf("node %s has no cores", n.Name)
	case c.Limits.MaxQueue < 1:
		return fmt.Errorf("node %s: max queue %d: at least 1 is needed", n.Name, c.Limits.MaxQueue)
	case c.Limits.RetainResults < 1 || c.Limits.RetainFor <= 0:
		return fmt.Errorf("node %s retains %d results for %v: both must be positive", n.Name, c.Limits.RetainResults, c.Limits.RetainFor)
	case !(c.Limits.TimeoutFactor >= 0 && c.Limits.TimeoutFactor <= maxTimeoutFactor):
		return fmt.Errorf("node %s: timeout factor %v: from 0 (off) to %v is possible", n.Name, c.Limits.TimeoutFactor, maxTimeoutFactor)
	}
	for k, amount := range n.Capacity {
		if amount < 0 || amount > cluster.MaxAmount || (amount > 0 && k >= c.Dimensions.Len()) {
			return fmt.Errorf("node %s: capacity %d in dimension %d is out of range", n.Name, amount, k)
		}
	}
	return nil
}

const maxTimeoutFactor = 1e6

// program is a task type resolved for this node.
type program struct {
	name     string
	executor string
	image    string
	missing  bool // this node does not have the executor
	emulated bool
	anyMode  bool
	argv     map[string][]string // by mode
	plain    []string            // argv of a mode that is not listed, where anyMode
	template *template           // of a command; nil: a type
}

// programs resolves every task type.
func (c *Config) programs() (map[string]*program, error) {
	if len(c.Types)+len(c.Executors) == 0 {
		return nil, fmt.Errorf("node %s knows no task types and has no executor for commands, so it could run nothing", c.Node.Name)
	}
	if c.Executor != "" && !c.has(c.Executor) {
		return nil, fmt.Errorf("node %s: executor %q does not exist here (there are: %s)", c.Node.Name, c.Executor, c.names())
	}
	programs := make(map[string]*program, len(c.Types))
	for i := range c.Types {
		t := &c.Types[i]
		if programs[t.Name] != nil {
			return nil, fmt.Errorf("node %s: task type %q is defined twice", c.Node.Name, t.Name)
		}
		p := &program{name: t.Name, executor: c.Executor, image: t.Image, anyMode: len(t.Modes) == 0, plain: t.Argv, argv: map[string][]string{}}
		if p.executor == "" {
			p.executor = t.Executor
		}
		if p.executor == "" {
			return nil, fmt.Errorf("node %s: task type %q names no executor and the node has no general one", c.Node.Name, t.Name)
		}
		p.missing = !c.has(p.executor)
		p.emulated = c.emulates(p.executor)
		for _, m := range t.Modes {
			p.argv[cluster.CanonicalMode(m.Name)] = slices.Concat(t.Argv, m.Argv)
		}
		programs[t.Name] = p
	}
	return programs, nil
}

func (c *Config) has(name string) bool {
	return slices.ContainsFunc(c.Executors, func(e Executor) bool { return e.Name == name })
}

func (c *Config) emulates(name string) bool {
	return slices.Contains(c.Executors, Executor{name, true})
}

func (c *Config) names() string {
	list := ""
	for i, e := range c.Executors {
		if i > 0 {
			list += ", "
		}
		list += e.Name
	}
	return list
}

func (p *program) hasMode(mode string) bool {
	_, listed := p.argv[cluster.CanonicalMode(mode)]
	return listed || p.anyMode
}

func (p *program) argvOf(mode string) []string {
	if p.anyMode {
		return p.plain
	}
	return p.argv[mode]
}
