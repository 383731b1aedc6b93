package profile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"dodoor/conf"
)

// Part is a catalogue, and how to say where in its file a type, one of its modes (from 0; -1: none) or
// one of the mode's profiles stands.
type Part struct {
	Types []conf.TaskType
	Where func(typ, mode, profile int) string
}

// Merge makes one catalogue of several that were measured on different classes or of different types.
// What is in two of them has to be the same task, and measured on two classes. The error joins
// everything that is wrong.
func Merge(parts []Part) ([]conf.TaskType, error) {
	m := merger{first: map[string]string{}}
	for _, part := range parts {
		m.part = part
		for i := range part.Types {
			m.addType(i)
		}
	}
	if len(m.problems) > 0 {
		return nil, errors.Join(m.problems...)
	}
	return m.types, nil
}

type merger struct {
	types    []conf.TaskType
	first    map[string]string // where each type, mode and profile was met first, by what it is called
	part     Part              // that is being added
	problems []error
}

// blame reports what is wrong at a place, and where what it does not agree with is.
func (m *merger) blame(where, what, problem string) {
	m.problems = append(m.problems, fmt.Errorf("%s: %s: %s (%s)", where, what, problem, m.first[what]))
}

func (m *merger) addType(i int) {
	t, where := &m.part.Types[i], m.part.Where(i, -1, -1)
	have := find(m.types, func(h *conf.TaskType) bool { return h.Name == t.Name })
	if have == nil {
		m.first[t.Name] = where
		m.types = append(m.types, conf.TaskType{Name: t.Name, Executor: t.Executor, Image: t.Image, Argv: t.Argv})
		have = &m.types[len(m.types)-1]
	}
	for _, d := range []struct {
		key            string
		same           bool
		first, another any
	}{
		{"executor", have.Executor == t.Executor, have.Executor, t.Executor},
		{"image", have.Image == t.Image, have.Image, t.Image},
		{"argv", slices.Equal(have.Argv, t.Argv), have.Argv, t.Argv},
	} {
		if !d.same {
			m.blame(where, t.Name, fmt.Sprintf("%s is %q here and %q elsewhere: not the same task", d.key, d.another, d.first))
			return
		}
	}
	for j := range t.Modes {
		m.addMode(have, i, j)
	}
}

func (m *merger) addMode(to *conf.TaskType, i, j int) {
	mode, where := &m.part.Types[i].Modes[j], m.part.Where(i, j, -1)
	what := to.Name + ", " + mode.Name
	have := find(to.Modes, func(h *conf.Mode) bool { return h.Name == mode.Name })
	if have == nil {
		m.first[what] = where
		to.Modes = append(to.Modes, conf.Mode{Name: mode.Name, Argv: mode.Argv, Shape: mode.Shape})
		have = &to.Modes[len(to.Modes)-1]
	}
	switch {
	case !slices.Equal(have.Argv, mode.Argv):
		m.blame(where, what, fmt.Sprintf("argv is %q here and %q elsewhere: not the same task", mode.Argv, have.Argv))
		return
	case !reflect.DeepEqual(have.Shape, mode.Shape):
		m.blame(where, what, "the figures for all classes are others elsewhere")
		return
	}
	for k, p := range mode.Profiles {
		class, where := fmt.Sprintf("%s, class %s", what, p.Class), m.part.Where(i, j, k)
		if _, twice := m.first[class]; twice {
			m.blame(where, class, "there are figures elsewhere already")
			continue
		}
		m.first[class] = where
		have.Profiles = append(have.Profiles, p)
	}
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// MergeFiles reads catalogues and makes one of them: its text, and its figures.
func MergeFiles(files []string) ([]byte, []Figures, error) {
	var parts []Part
	var failures []error
	for _, file := range files {
		c, err := conf.ReadTypes(file)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		parts = append(parts, Part{Types: c.Types, Where: c.Where})
	}
	if len(failures) > 0 {
		return nil, nil, errors.Join(failures...)
	}
	types, err := Merge(parts)
	if err != nil {
		return nil, nil, err
	}
	head := []string{"Merged by dodoor profile from " + strings.Join(files, ", ") + "."}
	return Text(types, head, func(string, string, string) string { return "" }), List(types, nil), nil
}
