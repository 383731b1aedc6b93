package placeholder

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The forms are those of GNU parallel 20221122, as it printed them; but it takes the name of a hidden file for an extension.
func TestForms(t *testing.T) {
	argv := []string{"{.}", "{/}", "{//}", "{/.}"}
	for entry, want := range map[string]string{
		"a/b.c":    "a/b|b.c|a|b",
		"./-rf/x":  "./-rf/x|x|./-rf|x",
		"-rf/x.y":  "-rf/x|x.y|-rf|x",
		"a/../b/c": "a/../b/c|c|a/../b|c",
		"a/..":     "a/.|..|a|.",
		"..":       ".|..|.|.",
		"./x":      "./x|x|.|x",
		"foo/":     "foo/||.|",
		"x.c/":     "x.c/||.|",
		"a/b/":     "a/b/||a|",
		"a//b":     "a//b|b|a|b",
		"/":        "/||/|",
		"/x":       "/x|x|/|x",
		"//x":      "//x|x|/|x",
		"x":        "x|x|.|x",
		"":         "||.|",
		"a.b/c":    "a.b/c|c|a.b|c",
		"a.tar.gz": "a.tar|a.tar.gz|.|a.tar",
		"foo.":     "foo|foo.|.|foo",
		"a.b/.c.d": "a.b/.c|.c.d|a.b|.c",
		".hid":     ".hid|.hid|.|.hid",    // there: "|.hid|.|"
		"a/.hid":   "a/.hid|.hid|a|.hid",  // there: "a/|.hid|a|"
		"a/..hid":  "a/.|..hid|a|.",       // a name of its own all the same
		"a b/c d":  "a b/c d|c d|a b|c d", // as it is
		"$(x)/`y`": "$(x)/`y`|`y`|$(x)|`y`",
	} {
		if got := strings.Join(Expand(argv, 1, []string{entry}), "|"); got != want {
			t.Errorf("%q: %s, want %s", entry, got, want)
		}
	}
}

// A folder and a name are the entry again, and the name has no slash.
func TestFolderAndName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.StringMatching(`/?([-.a]{1,3}/){0,3}[-.a]{0,3}`).Draw(t, "entry")
		parts := Expand([]string{"{//}", "{/}"}, 1, []string{entry})
		folder, name := strings.TrimSuffix(parts[0], "/"), parts[1]
		if strings.Contains(name, "/") || !strings.HasSuffix(entry, name) {
			t.Fatalf("%q: name %q", entry, name)
		}
		whole := folder + "/" + name
		if !strings.Contains(entry, "/") {
			whole = name
		}
		if name != "" && whole != entry {
			t.Fatalf("%q: folder %q and name %q", entry, folder, name)
		}
	})
}
