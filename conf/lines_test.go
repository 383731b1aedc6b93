package conf

import (
	"maps"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

func TestLines(t *testing.T) {
	text := strings.Join([]string{
		"# comment", // 1
		"seed = 1",
		"a.b . 'c d' = [ # comment ]",
		"  1,",
		"  { x = 2, y.z = '''",
		"not = a key", // 6
		"''' },",
		"]",
		"[ s . \"t\\u0041\" ]",
		`k = "a # \" ] = "`,
		`m = """a\`, // 11
		`\""" n = 1`,
		`""""`,
		"o = 1979-05-27 07:32:00 # p = 1",
		"[[l]]",
		"k = 1", // 16
		"[l.sub]",
		"k = 1",
		"[[l.deep]]",
		"k = {}",
		"[[l.deep]]", // 21
		"k = {",
		"  i = 1, # comment }",
		"}\r",
		"[[l]]",
		"deep = [[], [[]]]",
	}, "\n")
	if err := toml.Unmarshal([]byte(text), new(map[string]any)); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"seed": 2, "a": 3, "a.b": 3, `a.b."c d"`: 3, `a.b."c d"[0]`: 4, `a.b."c d"[1]`: 5,
		`a.b."c d"[1].x`: 5, `a.b."c d"[1].y`: 5, `a.b."c d"[1].y.z`: 5,
		"s": 9, "s.tA": 9, "s.tA.k": 10, "s.tA.m": 11, "s.tA.o": 14,
		"l": 15, "l[0]": 15, "l[0].k": 16, "l[0].sub": 17, "l[0].sub.k": 18,
		"l[0].deep": 19, "l[0].deep[0]": 19, "l[0].deep[0].k": 20,
		"l[0].deep[1]": 21, "l[0].deep[1].k": 22, "l[0].deep[1].k.i": 23,
		"l[1]": 25, "l[1].deep": 26, "l[1].deep[0]": 26, "l[1].deep[1]": 26, "l[1].deep[1][0]": 26,
	}
	got := scanLines(text)
	if !maps.Equal(got.at, want) {
		for path := range maps.Keys(want) {
			if got.at[path] != want[path] {
				t.Errorf("%s is on line %d, want %d", path, got.at[path], want[path])
			}
		}
		for path, line := range got.at {
			if want[path] == 0 {
				t.Errorf("unexpected %s on line %d", path, line)
			}
		}
	}
	if len(got.repeats) > 0 || got.tooDeep > 0 {
		t.Errorf("found %v, %d in a sound text", got.repeats, got.tooDeep)
	}
}

// However a text nests, it is refused before the library recurses on it.
func TestDeepTextIsRefusedEarly(t *testing.T) {
	for _, text := range []string{
		"a = " + strings.Repeat("[", maxFileBytes-10),
		"a = " + strings.Repeat("{a=", 300_000),
		"a = " + strings.Repeat("[{a=", 200_000),
		strings.Repeat("a.", 400_000) + "a = 1",
		"[" + strings.Repeat("a.", 400_000) + "a]",
	} {
		if scanLines(text).tooDeep != 1 {
			t.Errorf("%.20s... is not too deep", text)
		}
	}
}

// FuzzLines checks the scanner against the library: of every text that the library reads, the
// scanner finds each key, once.
func FuzzLines(f *testing.F) {
	f.Add("a = 1\n[b]\nc.d = [1, {e = 2}]\n[[f]]\ng = '''x'''\n[[f]]\n")
	f.Add("'a.b' = \"\"\"\\\"\"\"\"\"\n\"\\u0041\" = {x = 1,\n}\r\n")
	f.Add("\ufeffa = 1979-05-27 07:32:00 # x\n[ a . b ]")
	f.Add("a = 1\na = 2\n[b]\n[b]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		found := scanLines(text)
		if found.tooDeep > 0 {
			return
		}
		var tree map[string]any
		if toml.Unmarshal([]byte(text), &tree) != nil {
			return
		}
		if len(found.repeats) > 0 {
			t.Fatalf("repeats %v in a text without any", found.repeats)
		}
		last := strings.Count(text, "\n") + 1
		eachPath("", tree, func(path string) {
			if line := found.at[path]; line < 1 || line > last {
				t.Fatalf("%s is on line %d of %d", path, line, last)
			}
			delete(found.at, path)
		})
		if len(found.at) > 0 {
			t.Fatalf("found what the library does not have: %v", found.at)
		}
	})
}

func eachPath(path string, data any, visit func(string)) {
	if path != "" {
		visit(path)
	}
	if table, ok := data.(map[string]any); ok {
		for key, value := range table {
			eachPath(join(path, key), value, visit)
		}
	}
	if list, ok := listOf(data); ok {
		for i, value := range list {
			eachPath(index(path, i), value, visit)
		}
	}
}
