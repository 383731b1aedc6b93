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
	main, open, err := find(profileOrPath)
	if err != nil {
		return nil, err
	}
	var types []source
	for _, name := range typeFiles {
		from, err := openTypes(name)
		if err != nil {
			return nil, err
		}
		types = append(types, from)
	}
	return load(main, open, sets, types...)
}

func load(main source, open opener, sets []string, types ...source) (*Config, error) {
	r := newReport(main.name)
	doc, ok := r.parse(main, 0)
	if !ok {
		return nil, r.err(Default())
	}
	for path, line := range doc.lines {
		r.origins[path] = origin{0, main.name, line}
	}
	file := layout{Config: *Default()}
	binder{r}.bind(reflect.ValueOf(&file).Elem(), doc.tree, "")
	c := &file.Config
	for i, name := range file.Include {
		r.include(c, i, file.Include[:i], name, open)
	}
	first := len(file.Include) + 1
	for i, from := range types {
		r.supply(c, from, first+i, first)
	}
	for i, set := range sets {
		r.set(c, set, origin{rank: overrideRank + i, name: "-set " + printable(set)})
	}
	validate(c, r)
	if err := r.err(c); err != nil {
		return nil, err
	}
	return c, nil
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
