package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// Catalog resolves what a submitter names (a task type and mode) to what a task needs on every node
// class. Node classes get dense ids as they are first seen.
type Catalog struct {
	types   map[string]*resolvedType
	known   string // for error messages
	classes map[string]cluster.ClassID
	names   []string
	usual   cluster.Shape // of a command that says nothing of it
	learns  bool          // how long tasks run that say nothing of it
}

type resolvedType struct {
	anyMode bool
	modes   map[string]*resolvedMode
	known   string
}

type resolvedMode struct {
	fallback *cluster.Shape
	perClass []cluster.Offer
}

// NewCatalog builds the catalogue of the configured task types. A command of which nobody says how long it runs is
// estimated at duration.
func NewCatalog(types []cluster.TaskType, duration time.Duration) *Catalog {
	c := &Catalog{types: map[string]*resolvedType{}, classes: map[string]cluster.ClassID{},
		usual: cluster.Shape{Demand: cluster.Resources{cluster.Cores: cluster.PerUnit(cluster.Cores)}, Duration: duration.Milliseconds()}}
	var names []string
	for i := range types {
		names = append(names, types[i].Name)
		c.types[types[i].Name] = c.resolveType(&types[i])
	}
	slices.Sort(names)
	c.known = strings.Join(names, ", ")
	return c
}

func (c *Catalog) resolveType(t *cluster.TaskType) *resolvedType {
	r := &resolvedType{anyMode: len(t.Modes) == 0, modes: map[string]*resolvedMode{}}
	var names []string
	for i := range t.Modes {
		m := &t.Modes[i]
		names = append(names, m.Name)
		resolved := &resolvedMode{fallback: m.Default}
		for class, shape := range m.PerClass {
			id := int(c.Class(class))
			for len(resolved.perClass) <= id {
				resolved.perClass = append(resolved.perClass, cluster.Offer{})
			}
			resolved.perClass[id] = cluster.Offer{Shape: shape, Known: true}
		}
		r.modes[m.Name] = resolved
	}
	r.known = strings.Join(names, ", ")
	return r
}

// Class returns the dense id of a node class.
func (c *Catalog) Class(name string) cluster.ClassID {
	id, ok := c.classes[name]
	if !ok {
		id = cluster.ClassID(len(c.names))
		c.classes[name] = id
		c.names = append(c.names, name)
	}
	return id
}

// ClassName is the inverse of Class.
func (c *Catalog) ClassName(id cluster.ClassID) string { return c.names[id] }

// Resolve turns a submission into what its task needs: the profile's figures on the classes it knows, else the
// submission's own, else the mode's default. A command has no profile, and needs a core where it does not say.
// It returns a refusal that says what is missing.
func (c *Catalog) Resolve(s *cluster.TaskSpec, t *cluster.Kind) *cluster.Refusal {
	*t = cluster.Kind{Type: s.Type, Mode: cluster.CanonicalMode(s.Mode), AtMostOnce: s.AtMostOnce, TimeScale: max(s.TimeScale, 1)}
	if s.Command != nil {
		t.Type = cluster.CommandType
		return c.ownFigures(s, t, &c.usual)
	}
	typ, ok := c.types[s.Type]
	if !ok {
		return refuse(s.ID, cluster.UnknownType, "task type %q is not configured; known: %s", s.Type, c.known)
	}
	var fallback *cluster.Shape
	if !typ.anyMode {
		mode, ok := typ.modes[t.Mode]
		if !ok {
			return refuse(s.ID, cluster.UnknownMode, "task type %q has no mode %q; it has: %s", s.Type, s.Mode, typ.known)
		}
		t.PerClass, fallback = mode.perClass, mode.fallback
	}
	return c.ownFigures(s, t, fallback)
}

// profile returns what the profile of a type and mode says on every class; false: neither is configured.
func (c *Catalog) profile(name, mode string) ([]cluster.Offer, bool) {
	typ := c.types[name]
	if typ == nil || typ.modes[mode] == nil {
		return nil, typ != nil && typ.anyMode
	}
	return typ.modes[mode].perClass, true
}

// mode returns what the profile says of a submission's task; nil: nothing.
func (c *Catalog) mode(s *cluster.TaskSpec) *resolvedMode {
	if typ := c.types[s.Type]; typ != nil && s.Command == nil {
		return typ.modes[cluster.CanonicalMode(s.Mode)]
	}
	return nil
}

// ownFigures fills the uniform shape from the submission, completed by the default.
func (c *Catalog) ownFigures(s *cluster.TaskSpec, t *cluster.Kind, fallback *cluster.Shape) *cluster.Refusal {
	if fallback != nil {
		t.Uniform, t.HasUniform = *fallback, true
	}
	if s.Demand != nil {
		t.Uniform.Demand = *s.Demand
	}
	if s.Duration != nil {
		t.Uniform.Duration, t.Says = *s.Duration, true
	}
	if s.Demand != nil && (s.Duration != nil || c.learns) {
		t.HasUniform = true
	}
	if t.HasUniform || len(t.PerClass) > 0 {
		return nil
	}
	missing := "demand and duration"
	switch {
	case s.Demand != nil:
		missing = "duration"
	case s.Duration != nil:
		missing = "demand"
	}
	return refuse(s.ID, cluster.InvalidTask, "task type %q has no profile, so the submission must bring its %s", s.Type, missing)
}

func refuse(id string, code cluster.RefusalCode, format string, args ...any) *cluster.Refusal {
	return &cluster.Refusal{TaskID: id, Code: code, Message: fmt.Sprintf(format, args...)}
}
