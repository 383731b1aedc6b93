package conf

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// docs/configuration.md has one row per key, with the default that Default gives it.
func TestEveryKeyIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := documentedDefaults(string(text))
	shown := printedDefaults(t)
	for _, path := range settingPaths(reflect.ValueOf(Default()).Elem(), "") {
		got, ok := documented[path]
		want, has := shown[path]
		switch {
		case !ok:
			t.Errorf("%s is not documented", path)
		case has && got != "`"+want+"`" && got != "required":
			t.Errorf("%s: the documented default is %s, want `%s`", path, got, want)
		case !has && got != "none" && got != "required":
			t.Errorf("%s: the documented default is %s, and there is none", path, got)
		}
		delete(documented, path)
	}
	for _, table := range []string{"include", "sim.fault", "task_type.mode", "task_type.mode.profile"} {
		if documented[table] != "none" {
			t.Errorf("%s is not documented", table)
		}
		delete(documented, table)
	}
	for path := range documented {
		t.Errorf("%s is documented, and there is no such key", path)
	}
}

// documentedDefaults maps the path of each row to its default.
func documentedDefaults(text string) map[string]string {
	rows, section := map[string]string{}, ""
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			section = strings.Trim(strings.TrimSpace(heading), "[]`")
		}
		cells := strings.Split(line, " | ")
		key, ok := strings.CutPrefix(cells[0], "| `")
		if !ok {
			continue
		}
		path := strings.TrimSuffix(key, "`")
		if section != "Top level" {
			path = section + "." + path
		}
		rows[path] = cells[1]
	}
	return rows
}

// printedDefaults maps each path to its default in TOML, for the keys that have one.
func printedDefaults(t *testing.T) map[string]string {
	t.Helper()
	c := Default()
	c.Classes, c.Types, c.Sim.Faults, c.Hosts = make([]Class, 1), make([]TaskType, 1), make([]Fault, 1), make([]Host, 1)
	c.Classes[0].setDefaults()
	c.Types[0].setDefaults()
	c.Hosts[0].setDefaults()
	c.Worker.Devices = map[string]*Devices{"NAME": devicesCalled("NAME")}
	c.Hosts[0].Devices = c.Worker.Devices
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	defaults, section := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]") + "."
		}
		if key, value, ok := strings.Cut(line, " = "); ok {
			defaults[section+key] = value
		}
	}
	return defaults
}
