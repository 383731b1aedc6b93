package executor

import (
	"slices"
	"strings"

	"dodoor/worker"
)

// ownVariables begins the names of what a worker tells a task in its environment.
const ownVariables = "DODOOR_"

// told are the variables of CommandEnv.
var told = []string{"DODOOR_ENTRY", "DODOOR_JOB", "DODOOR_TASK_ID", "DODOOR_INDEX", "DODOOR_NODE", "DODOOR_CORES", "DODOOR_MEMORY_MB"}

// Tells reports whether a variable tells a command of something else than devices.
func Tells(variable string) bool { return slices.Contains(told, variable) }

// loading are the variables by which the loader or the C library run code of somebody else in any program. Those that begin
// with LD_ do so too.
var loading = []string{"GCONV_PATH", "GETCONF_DIR", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH"}

// Loads reports whether a variable makes a program run another's code.
func Loads(variable string) bool {
	return strings.HasPrefix(variable, "LD_") || slices.Contains(loading, variable)
}

// least are the variables of every program, which it would not do without or that would mean something else.
var least = []string{"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG"}

// Reserved reports whether a variable cannot be one that tells a task of its devices, since it says something else.
func Reserved(variable string) bool {
	return strings.HasPrefix(variable, ownVariables) || strings.HasPrefix(variable, "LC_") || Loads(variable) ||
		slices.Contains(least, variable)
}

// DeviceVariable is the variable with the ids of a task's devices of an extra: DODOOR_GPU for gpu.
func DeviceVariable(extra string) string {
	return ownVariables + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, extra)
}

// DeviceEnv is what the environment of a task says of devices: the ids of those that it has; and the variable by which programs
// find theirs, which is empty where the task has none, so that they find none. A container that the engine gives its devices
// has no others, and numbers them anew, so there that variable would mislead. One that has none is told to see none.
func DeviceEnv(s *worker.Start, contained bool) (env []string) {
	for i := range s.Devices {
		d := &s.Devices[i]
		ids := strings.Join(d.IDs, ",")
		if len(d.IDs) > 0 {
			env = append(env, DeviceVariable(d.Extra)+"="+ids)
		}
		if given := contained && d.Driver != "" && len(d.IDs) > 0; d.Variable != "" && !given {
			env = append(env, d.Variable+"="+ids)
		}
		if contained && d.Driver == nvidia && len(d.IDs) == 0 {
			env = append(env, visible+"=void")
		}
	}
	return env
}

// An engine whose default runtime is NVIDIA's puts the GPUs that this variable of a container names into it, an image's own word
// for "all" among them, without any device request.
const (
	nvidia  = "nvidia"
	visible = "NVIDIA_VISIBLE_DEVICES"
)

// withoutDevices drops from an environment what the worker alone says: which devices the task has.
func withoutDevices(s *worker.Start, env []string) []string {
	if len(s.Devices) == 0 {
		return env
	}
	return slices.DeleteFunc(slices.Clone(env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(s.Devices, func(d worker.Assigned) bool {
			return name == d.Variable || name == DeviceVariable(d.Extra) || name == visible && d.Driver == nvidia
		})
	})
}
