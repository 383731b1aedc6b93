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
	Beta  float64 // dodoor, oneplusbeta: probability of comparing two candidates, in [0, 1]
	Score string  // dodoor: "per-dimension" or "norm"

	Prequal PrequalKnobs
	Yarp    YarpKnobs
	Samples int // ect: nodes compared
	Plus    DodoorPlusConfig
}

// DefaultKnobs are the papers' own values: Dodoor's and, for Prequal, those of NSDI'24.
func DefaultKnobs() Knobs {
	return Knobs{
		Alpha: 0.5, Beta: 1, Score: "per-dimension",
		Prequal: DefaultPrequalKnobs(),
		Yarp:    DefaultYarpKnobs(),
		Samples: 5,
		Plus:    DefaultDodoorPlus(),
	}
}

// A constructor builds a policy for one scheduler replica.
type constructor func(Knobs) (scheduler.Policy, error)

// Freshness is what a policy wants of its view.
type Freshness uint8

const (
	Snapshots Freshness = iota // snapshots alone, as in the paper
	Corrected                  // and the own placements that a snapshot does not include
	Fresh                      // and the reports that ride on messages from workers
)

func always(f Freshness) func(Knobs) Freshness { return func(Knobs) Freshness { return f } }

// catalog is in the order in which people should read about the policies.
var catalog = []struct {
	name string
	make constructor
	view func(Knobs) Freshness
}{
	{"dodoor", dodoor, always(Snapshots)},
	{"dodoor+", dodoorPlus, plusView},
	{"random", newRandom, always(Snapshots)},
	{"pot", newPoT, always(Snapshots)},
	{"prequal", newPrequal, always(Snapshots)},
	{"cached-pot", newCachedPoT, always(Snapshots)},
	{"oneplusbeta", newOnePlusBeta, always(Snapshots)},
	{"least-loaded", newLeastLoaded, always(Snapshots)},
	{"yarp", newYarp, always(Snapshots)},
	{"ect", func(k Knobs) (scheduler.Policy, error) { return NewECT(k.Samples) }, always(Corrected)},
	{"partition", func(Knobs) (scheduler.Policy, error) { return NewPartition() }, always(Fresh)},
}

func dodoorPlus(k Knobs) (scheduler.Policy, error) { return NewDodoorPlus(k.Plus) }

func plusView(k Knobs) Freshness {
	if k.Plus.View == "snapshot" {
		return Corrected
	}
	return Fresh
}

// ViewOf returns what the policy called name wants of its view.
func ViewOf(name string, k Knobs) Freshness {
	for _, entry := range catalog {
		if entry.name == name {
			return entry.view(k)
		}
	}
	return Snapshots
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
