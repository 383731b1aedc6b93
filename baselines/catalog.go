// Package baselines lists every placement policy by name. A policy is one file behind the seam
// scheduler.Policy; this is the only list of names.
package baselines

import (
	"fmt"
	"strings"

	"dodoor/scheduler"
)

// Knobs are the settings that policies read; each takes what concerns it.
type Knobs struct {
	Alpha float64 // dodoor: weight of queued duration against resource fit, in [0, 1]
	Beta  float64 // dodoor: probability of comparing two candidates, in [0, 1]
	Score string  // dodoor: "per-dimension" or "norm"
}

// A constructor builds a policy for one scheduler replica.
type constructor func(Knobs) (scheduler.Policy, error)

// catalog is in the order in which people should read about the policies.
var catalog = []struct {
	name string
	make constructor
}{
	{"dodoor", dodoor},
}

// Names lists the known policies.
func Names() []string {
	names := make([]string, len(catalog))
	for i, entry := range catalog {
		names[i] = entry.name
	}
	return names
}

// New builds the policy called name. Every replica needs its own: policies keep state.
func New(name string, k Knobs) (scheduler.Policy, error) {
	for _, entry := range catalog {
		if entry.name == name {
			p, err := entry.make(k)
			if err != nil {
				return nil, fmt.Errorf("policy %s: %w", name, err)
			}
			return p, nil
		}
	}
	return nil, fmt.Errorf("no policy is called %q; known: %s", name, strings.Join(Names(), ", "))
}

func dodoor(k Knobs) (scheduler.Policy, error) {
	kind, ok := scheduler.ParseScoreKind(k.Score)
	if !ok {
		return nil, fmt.Errorf("score = %q: must be per-dimension or norm", k.Score)
	}
	return scheduler.NewDodoor(scheduler.DodoorConfig{Alpha: k.Alpha, Beta: k.Beta, Score: kind})
}
