package conf

import (
	"reflect"
	"slices"
)

// A layout is what the main file may hold: a Config, and the files that complete it.
type layout struct {
	Include []string `toml:"include"`
	Config
}

// An opener finds the text that an include names.
type opener func(name string) (source, error)

// Load reads a profile (a bare name, see Profiles) or a file (a path: it holds a "/" or ends in
// ".toml"), puts the task types of the files typeFiles in the place of its own of the same name or
// behind them, applies the overrides in their order, each "section.key=value", and validates the
// result. Its error joins a Problem for everything that is wrong.
func Load(profileOrPath string, sets []string, typeFiles ...string) (*Config, error) {
	base, err := Read(profileOrPath, typeFiles...)
	if err != nil {
		return nil, err
	}
	return base.With(sets)
}

// include appends the task types of one more text.
func (r *report) include(c *Config, i int, earlier []string, name string, open opener) {
	path := index("include", i)
	if j := slices.Index(earlier, name); j >= 0 {
		r.add(path, "%q is included twice: first by include[%d]", name, j)
		return
	}
	from, err := open(name)
	if err != nil {
		r.add(path, "%v", err)
		return
	}
	types, lines := r.typesAlone(from, i+1, func() { r.add(path, "%s holds no [[task_type]] tables", from.name) })
	list, targets := reflect.ValueOf(&c.Types).Elem(), make([]int, len(types))
	for j := range types {
		targets[j] = len(c.Types) + j
	}
	r.locate(lines, origin{rank: i + 1, name: from.name}, targets)
	for j, data := range types {
		binder{r}.append(list, data, index("task_type", targets[j]))
	}
}
