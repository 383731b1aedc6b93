package generator

import (
	"fmt"
	"maps"
	"slices"

	"dodoor/internal/cluster"
)

// ReferenceClass is the node class whose profile fills the demand and duration columns of a
// FunctionBench trace, as in the prototype's own trace.
const ReferenceClass = "c6525-25g"

// ReferenceFor chooses another class where the types were not measured on ReferenceClass: the first of
// classes for which every type and mode asked for has figures, or else the first by name.
func ReferenceFor(types []cluster.TaskType, classes []string, mix Mix) (string, error) {
	modes, err := modesOf(types, mix)
	if err != nil {
		return "", err
	}
	others := map[string]bool{}
	for i := range modes {
		for _, mode := range modes[i] {
			if mode.Default == nil && len(mode.PerClass) == 0 {
				return "", unmeasured("task type %q, mode %q has no figures for any node class", FunctionBenchTypes[i], mode.Name)
			}
			for class := range mode.PerClass {
				others[class] = true
			}
		}
	}
	candidates := slices.Concat([]string{ReferenceClass}, classes, slices.Sorted(maps.Keys(others)))
	for _, class := range candidates {
		if _, err := shapesOf(types, class, mix); err == nil {
			return class, nil
		}
	}
	return "", unmeasured("no node class has figures of all FunctionBench types and modes")
}

func unmeasured(format string, args ...any) error {
	return fmt.Errorf(format+": measure them with dodoor profile, and pass what it writes with -types", args...)
}
