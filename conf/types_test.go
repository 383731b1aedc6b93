package conf

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The same three types each: what they are called is all that the cases look at, and one figure.
const threeTypes = laptop + `
[[task_type]]
name = "a"
executor = "stress-ng"
[[task_type]]
name = "b"
mode = [{ name = "short", cores = 1, duration = "1s" }]
[[task_type]]
name = "c"
`

func withTypes(text string, files ...string) (*Config, error) {
	var types []source
	for i, file := range files {
		types = append(types, source{[]string{"x.toml", "y.toml"}[i], []byte(file)})
	}
	return load(source{"t.toml", []byte(text)}, openEmbedded, nil, types...)
}

func typeNames(types []TaskType) string {
	var names []string
	for _, t := range types {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// Types of a file take the place of the configuration's; others follow. Nothing of a replaced type stays.
func TestTypesOfAFile(t *testing.T) {
	const measured = "\n[[task_type]]\nname = \"d\"\n[[task_type]]\nname = \"a\"\n" +
		"[[task_type.mode]]\nname = \"short\"\nprofile = [{ class = \"laptop\", cores = 0.5, duration = \"7ms\" }]\n"
	c, err := withTypes(threeTypes, measured)
	if err != nil {
		t.Fatal(err)
	}
	if got := typeNames(c.Types); got != "a b c d" {
		t.Errorf("types are %s", got)
	}
	want := TaskType{Name: "a", Executor: sleepExecutor, Modes: []Mode{{Name: "short", Profiles: []Profile{
		{"laptop", Shape{Cores: 0.5, Duration: 7 * Duration(time.Millisecond)}}}}}}
	if !reflect.DeepEqual(c.Types[0], want) {
		t.Errorf("got %+v, want %+v", c.Types[0], want)
	}
	c, err = load(source{"t.toml", []byte(threeTypes)}, openEmbedded, []string{"task_type.a.mode.short.profile.laptop.cores=2"},
		source{"x.toml", []byte(measured)})
	if err != nil || c.Types[0].Modes[0].Profiles[0].Cores != 2 {
		t.Errorf("overrides come last: %v", err)
	}
}

func TestBadTypesOfAFile(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"wrong key", "[[task_type]]\nname = \"b\"\nexecuter = \"sleep\"", "x.toml:3: task_type.b.executer: unknown key: did you mean executor?"},
		{"wrong value", "[[task_type]]\nname = \"a\"\n[[task_type]]\nname = \"b\"\nmode = [{ name = \"short\",\n cores = -1, duration = \"1s\" " +
			"}]",
			"x.toml:6: task_type.b.mode.short.cores: must be between 0.001 and 1e+09, found -1"},
		{"missing key", "[[task_type]]\nname = \"b\"\nmode = [{ name = \"short\", cores = 1 }]",
			"x.toml:3: task_type.b.mode.short.duration: is missing: it has no default"},
		{"no name", "[[task_type]]\nexecutor = \"sleep\"", "x.toml:1: task_type[3].name: is missing: it has no default"},
		{"not a table", "task_type = 3", "x.toml: holds no [[task_type]] tables"},
		{"one table", "[task_type]\nname = \"b\"", "x.toml: holds no [[task_type]] tables"},
		{"nothing", "", "x.toml: holds no [[task_type]] tables"},
		{"more", "seed = 2\n[[task_type]]\nname = \"b\"", "x.toml:1: seed: a file of task types may hold only [[task_type]] tables"},
		{"not TOML", "[[task_type]\n", "x.toml:1: expected end of table array name delimiter ']', but got '\\n' instead"},
		{"twice", "[[task_type]]\nname = \"b\"\n[[task_type]]\nname = \"b\"",
			`x.toml:4: task_type.b.name: "b" is there already (first in x.toml:2)`},
		{"in two files", "[[task_type]]\nname = \"b\"---\n[[task_type]]\nname = \"b\"",
			`y.toml:3: task_type.b.name: "b" is there already (first in x.toml:2)`},
		{"a new one in two files", "[[task_type]]\nname = \"e\"---\n[[task_type]]\nname = \"e\"",
			`y.toml:3: task_type.e.name: "e" is there already (first in x.toml:2)`},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.want)(withTypes(threeTypes, strings.Split(c.files, "---")...)) })
	}
}

func TestTypesOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte("[[task_type]]\nname = \"linpack\"\nmode = [{ name = \"short\",\n profile = [\n { class = \"x\", "+
		"cores = 1, duration = \"1s\" }] }]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load("paper", nil, path)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Types, func(t TaskType) bool { return t.Name == "linpack" })
	if len(c.Types) != 9 || len(c.Types[i].Modes) != 1 {
		t.Errorf("types are %v", c.Types)
	}
	list, err := ReadTypes(path)
	if err != nil || !reflect.DeepEqual(list.Types, c.Types[i:i+1]) {
		t.Fatalf("%+v, %v", list, err)
	}
	for line, got := range map[string]string{":1": list.Where(0, -1, -1), ":3": list.Where(0, 0, -1), ":5": list.Where(0, 0, 0)} {
		if got != path+line {
			t.Errorf("%s, want line %s", got, line)
		}
	}
	shipped, err := ReadTypes("functionbench")
	if err != nil || len(shipped.Types) != 8 {
		t.Errorf("functionbench: %v", err)
	}
	for name, want := range map[string]string{
		"absent.toml": "read task types: open absent.toml: no such file", "nope": `nothing to include is called "nope"`,
	} {
		for _, err := range []error{second(Load("paper", nil, name)), second(ReadTypes(name))} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
	if _, err := ReadTypes("./paper.toml"); err == nil || !strings.Contains(err.Error(), "paper.toml:10: scheduler: a file of task types") {
		t.Errorf("a whole configuration: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Whatever is replaced, the result is what a configuration with those types in those places loads to, and
// errors point into the file that holds them.
func TestAnyTypesReplaceAnyTypes(t *testing.T) {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), 1, 6, rapid.ID)
	rapid.Check(t, func(t *rapid.T) {
		text := func(names []string, argv string) string {
			var b strings.Builder
			for _, name := range names {
				b.WriteString("[[task_type]]\nname = \"" + name + "\"\nargv = [\"" + argv + "\"]\n")
			}
			return b.String()
		}
		own, more := names.Draw(t, "own"), names.Draw(t, "more")
		c, err := withTypes(laptop+text(own, "own"), text(more, "more"))
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(own)
		for _, name := range more {
			if !slices.Contains(own, name) {
				want = append(want, name)
			}
		}
		if got := typeNames(c.Types); got != strings.Join(want, " ") {
			t.Fatalf("types are %s, want %v", got, want)
		}
		for _, have := range c.Types {
			from := "own"
			if slices.Contains(more, have.Name) {
				from = "more"
			}
			if have.Argv[0] != from {
				t.Fatalf("%s is the one of %s", have.Name, have.Argv[0])
			}
		}
		_, err = withTypes(laptop+text(own, "own"), text(more, `\u0000`))
		if err == nil || strings.Count(err.Error(), "x.toml:") != len(more) || strings.Contains(err.Error(), "t.toml") {
			t.Fatalf("%v", err)
		}
	})
}
