package conf

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// A path names one place in a configuration: table keys joined by dots, list elements by index, as
// in task_type[0].mode[2].cores. People see names instead of indices (labels).

func join(path, key string) string {
	quoted := toml.Key{key}.String()
	if path == "" {
		return quoted
	}
	return path + "." + quoted
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// parent cuts the last step off a path. A dot inside a quoted key is cut too: looking up the pieces
// finds nothing there and goes on to the real parent.
func parent(path string) string { return path[:max(0, strings.LastIndexAny(path, ".["))] }

// labels maps the path of every list element to the form that uses names: class[0] to class.m510.
func (c *Config) labels() map[string]string {
	out := map[string]string{}
	label := func(list, shown string, i int, name string) (string, string) {
		at := index(list, i)
		out[at] = index(shown, i)
		if name != "" {
			out[at] = join(shown, name)
		}
		return at, out[at]
	}
	for i, host := range c.Hosts {
		label("host", "host", i, host.Name)
	}
	for i, class := range c.Classes {
		label("class", "class", i, class.Name)
	}
	for i, t := range c.Types {
		at, shown := label("task_type", "task_type", i, t.Name)
		for j, m := range t.Modes {
			at, shown := label(at+".mode", shown+".mode", j, m.Name)
			for k, p := range m.Profiles {
				label(at+".profile", shown+".profile", k, p.Class)
			}
		}
	}
	return out
}

func relabel(path string, labels map[string]string) string {
	for at := path; at != ""; at = parent(at) {
		if shown, ok := labels[at]; ok {
			return shown + path[len(at):]
		}
	}
	return path
}
