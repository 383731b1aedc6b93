package generator

import (
	"testing"

	"dodoor/internal/cluster"
)

// without drops the figures for a class from the types from the given one on.
func without(types []cluster.TaskType, class string, from int) []cluster.TaskType {
	for i := range types[from:] {
		for _, m := range types[from+i].Modes {
			delete(m.PerClass, class)
		}
	}
	return types
}

func TestReferenceFor(t *testing.T) {
	bare := without(without(profile(), ReferenceClass, 0), "m510", 0)
	for i := range bare {
		bare[i].Modes[0].Default = &cluster.Shape{Duration: int64(i)}
	}
	for _, c := range []struct {
		what    string
		types   []cluster.TaskType
		classes []string
		want    string
	}{
		{"the reference", profile(), []string{"m510"}, ReferenceClass},
		{"a class of the cluster", without(profile(), ReferenceClass, 7), []string{"vax", "m510"}, "m510"},
		{"any class", without(profile(), ReferenceClass, 0), []string{"vax"}, "m510"},
		{"figures for all classes", bare, []string{"vax"}, ReferenceClass},
	} {
		got, err := ReferenceFor(c.types, c.classes, ShortOnly)
		if got != c.want || err != nil {
			t.Errorf("%s: %q, %v", c.what, got, err)
			continue
		}
		if _, err := FunctionBench(c.types, got, ShortOnly, 10, 1); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

func TestNoReference(t *testing.T) {
	halves := without(profile(), ReferenceClass, 4)
	without(halves[:4], "m510", 0)
	for want, types := range map[string][]cluster.TaskType{
		`"float_operation", mode "short" has no figures for any node class: measure them with dodoor profile`: without(without(profile(),
			ReferenceClass, 0), "m510", 0),
		`"rnn_name_generation", mode "short" has no figures for any`: without(without(profile(),
			ReferenceClass, 7), "m510", 7),
		"no node class has figures of all FunctionBench types and modes: measure them with dodoor profile": halves,
		`task type "rnn_name_generation" is not configured`:                                                profile()[:7],
	} {
		_, err := ReferenceFor(types, []string{"m510"}, ShortOnly)
		wantError(t, err, want)
	}
}
