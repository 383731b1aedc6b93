package conf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A layout is what the main file may hold: a Config, and the files that complete it.
type layout struct {
	Include []string `toml:"include"`
	Config
}

// An opener finds the text that an include names.
type opener func(name string) (source, error)

// Load reads a profile (a bare name, see Profiles) or a file (a path: it holds a "/" or ends in
// ".toml"), applies the overrides in their order, each "section.key=value", and validates the
// result. Its error joins a Problem for everything that is wrong.
func Load(profileOrPath string, sets []string) (*Config, error) {
	main, open, err := find(profileOrPath)
	if err != nil {
		return nil, err
	}
	return load(main, open, sets)
}

func load(main source, open opener, sets []string) (*Config, error) {
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
	for i, set := range sets {
		r.set(c, set, origin{rank: overrideRank + i, name: "-set " + printable(set)})
	}
	validate(c, r)
	if err := r.err(c); err != nil {
		return nil, err
	}
	return c, nil
}

// include appends the task types of one more text. It may hold nothing else: an included text
// cannot include another, so there are no cycles.
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
	doc, ok := r.parse(from, i+1)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(doc.tree)) {
		if key != "task_type" {
			at := origin{i + 1, from.name, doc.lines[join("", key)]}
			r.addAt(at, "", "%s: an included file may hold only [[task_type]] tables", join("", key))
		}
	}
	shift := len(c.Types)
	for p, line := range doc.lines {
		if moved, ok := shifted(p, shift); ok {
			r.origins[moved] = origin{i + 1, from.name, line}
		}
	}
	types, ok := listOf(doc.tree["task_type"])
	if !ok {
		r.add(path, "%s holds no [[task_type]] tables", from.name)
		return
	}
	list := reflect.ValueOf(&c.Types).Elem()
	for j, element := range types {
		binder{r}.append(list, element, index("task_type", shift+j))
	}
}

// shifted moves a path inside task_type[i] to task_type[i+by]. It is false for any other path.
func shifted(path string, by int) (string, bool) {
	inside, ok := strings.CutPrefix(path, "task_type[")
	number, rest, _ := strings.Cut(inside, "]")
	i, err := strconv.Atoi(number)
	return fmt.Sprintf("task_type[%d]%s", i+by, rest), ok && err == nil
}
