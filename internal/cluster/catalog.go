package cluster

// TaskType is a kind of task that the cluster knows: how a worker runs it, and what it needs.
type TaskType struct {
	Name     string
	Executor string   // sleep, stress-ng, ...; empty: the worker's default
	Image    string   // the container's, where the executor runs containers
	Argv     []string // what the executor runs, where it runs a program
	Modes    []Mode   // empty: any mode, and every submission brings its own demand and duration
}

// Mode is one size of a task type, with its profile per node class.
type Mode struct {
	Name     string
	Argv     []string         // appended to the type's
	Default  *Shape           // on classes without an entry; nil: the submission's own figures, if any
	PerClass map[string]Shape // by class name
}

// Mode returns the mode called name ("small" is another word for "short").
func (t *TaskType) Mode(name string) (*Mode, bool) {
	name = CanonicalMode(name)
	for i := range t.Modes {
		if t.Modes[i].Name == name {
			return &t.Modes[i], true
		}
	}
	return nil, false
}

// CanonicalMode maps the prototype's trace vocabulary to ours: its "small" is "short".
func CanonicalMode(name string) string {
	if name == "small" {
		return "short"
	}
	return name
}
