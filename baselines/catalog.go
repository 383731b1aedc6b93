// Package baselines lists every placement policy by name. A policy is one file behind the seam
// scheduler.Policy, which registers itself.
package baselines

import (
	"fmt"
	"slices"
	"strings"

	"dodoor/scheduler"
)

var registered []scheduler.Spec

// register adds a policy to the catalogue, at the start of the program.
func register(p scheduler.Spec) bool {
	registered = append(registered, p)
	return true
}

// catalog is in the order in which people should read about the policies: the flagships, what they are
// compared with by name, and parts of dodoor+ alone.
func catalog() []scheduler.Spec {
	byName := slices.SortedFunc(slices.Values(registered), func(a, b scheduler.Spec) int { return strings.Compare(a.Name, b.Name) })
	return slices.Concat([]scheduler.Spec{scheduler.PaperPolicy, scheduler.PlusPolicy}, byName,
		[]scheduler.Spec{scheduler.ECTPolicy, scheduler.PartitionPolicy})
}

// Names lists the known policies.
func Names() []string {
	var names []string
	for _, p := range catalog() {
		names = append(names, p.Name)
	}
	return names
}

// Defaults returns the knobs of all policies at their defaults.
func Defaults() scheduler.Settings {
	var all scheduler.Settings
	for _, p := range catalog() {
		if p.Knobs == nil {
			continue
		}
		if knobs := p.Knobs(); all.Find(knobs.Table().Name) == nil { // two policies may share a table
			all = append(all, knobs)
		}
	}
	return all
}

// New builds the policy called name, with its knobs in trace time. Every replica needs its own: policies keep
// state.
func New(name string, s scheduler.Settings, timeScale float64) (scheduler.Policy, error) {
	for _, p := range catalog() {
		if p.Name == name {
			return p.Build(s, timeScale)
		}
	}
	return nil, fmt.Errorf("no policy is called %q; known: %s", name, strings.Join(Names(), ", "))
}
