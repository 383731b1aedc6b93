package conf

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A Catalog is task types from one file of their own.
type Catalog struct {
	Types   []TaskType
	origins map[string]origin
}

// ReadTypes reads a file that holds [[task_type]] tables alone, or a list of them that ships, as
// Load does. Its error joins a Problem for everything that is wrong.
func ReadTypes(pathOrName string) (*Catalog, error) {
	from, err := openTypes(pathOrName)
	if err != nil {
		return nil, err
	}
	r, c := newReport(from.name), Default()
	r.supply(c, from, 0, 0)
	validateTypes(r, c.Types)
	if err := r.err(c.labels()); err != nil {
		return nil, err
	}
	return &Catalog{Types: c.Types, origins: r.origins}, nil
}

// Where says in which file and line a type begins or, where mode and profile are not negative, one
// of its modes, or the mode's figures for one class.
func (c *Catalog) Where(typ, mode, profile int) string {
	path := index("task_type", typ)
	if mode >= 0 {
		path = index(path+".mode", mode)
	}
	if profile >= 0 {
		path = index(path+".profile", profile)
	}
	r := report{origins: c.origins}
	return r.origin(path).String()
}

// openTypes finds a list of task types for the command line: paths start from the working directory.
func openTypes(name string) (source, error) {
	if !IsPath(name) {
		return openEmbedded(name)
	}
	text, err := readFile(name)
	if err != nil {
		return source{}, fmt.Errorf("read task types: %w", err)
	}
	return source{name, text}, nil
}

// typesAlone reads a text that may hold nothing but task types, so it cannot include another one. It
// calls none where there are none.
func (r *report) typesAlone(from source, rank int, none func()) (types []any, lines map[string]int) {
	doc, ok := r.parse(from, rank)
	if !ok {
		return nil, nil
	}
	for _, key := range slices.Sorted(maps.Keys(doc.tree)) {
		if key != "task_type" {
			at := origin{rank, from.name, doc.lines[join("", key)]}
			r.addAt(at, "", "%s: a file of task types may hold only [[task_type]] tables", join("", key))
		}
	}
	types, ok = listOf(doc.tree["task_type"])
	if !ok {
		none()
	}
	return types, doc.lines
}

// supply puts the task types of one more text in the place of those of the same name, or behind the
// others. Texts of rank first and above do not replace each other's.
func (r *report) supply(c *Config, from source, rank, first int) {
	types, lines := r.typesAlone(from, rank, func() {
		r.addAt(origin{rank: rank, name: from.name}, "", "holds no [[task_type]] tables")
	})
	replaceable := map[string]int{}
	for i, t := range c.Types {
		if _, twice := replaceable[t.Name]; !twice && r.origin(index("task_type", i)).rank < first {
			replaceable[t.Name] = i
		}
	}
	targets, replaced := make([]int, len(types)), map[int]bool{}
	end := len(c.Types)
	for j, data := range types {
		name := nameIn(data)
		i, there := replaceable[name]
		if !there {
			i, end = end, end+1
		}
		targets[j], replaced[i] = i, there
		delete(replaceable, name)
	}
	maps.DeleteFunc(r.origins, func(path string, _ origin) bool {
		i, _, ok := insideType(path)
		return ok && replaced[i]
	})
	r.locate(lines, origin{rank: rank, name: from.name}, targets)
	c.Types = slices.Grow(c.Types, end-len(c.Types))[:end]
	list := reflect.ValueOf(c.Types)
	for j, data := range types {
		list.Index(targets[j]).Set(binder{r}.element(list.Type(), data, index("task_type", targets[j])))
	}
}

// nameIn is the name in a decoded table, if it has one.
func nameIn(data any) string {
	table, _ := data.(map[string]any)
	name, _ := table["name"].(string)
	return name
}

// locate makes the lines of a text the origins of the task types that were read from it: element j of
// the text has the index targets[j] in the configuration.
func (r *report) locate(lines map[string]int, text origin, targets []int) {
	for path, line := range lines {
		if j, rest, ok := insideType(path); ok && j < len(targets) {
			text.line = line
			r.origins[index("task_type", targets[j])+rest] = text
		}
	}
}

// insideType takes task_type[i] off the front of a path. It is false for any other path.
func insideType(path string) (i int, rest string, ok bool) {
	inside, ok := strings.CutPrefix(path, "task_type[")
	number, rest, _ := strings.Cut(inside, "]")
	i, err := strconv.Atoi(number)
	return i, rest, ok && err == nil
}
