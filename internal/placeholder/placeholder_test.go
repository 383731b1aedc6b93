package placeholder

import (
	"slices"
	"strings"
	"testing"
)

// As GNU parallel has them, but for names that begin with a dot: of those it leaves nothing without their extension.
func TestExpand(t *testing.T) {
	for _, c := range []struct {
		argv, entries, want []string
	}{
		{[]string{"echo", "{}"}, []string{"d/a.b.c"}, []string{"echo", "d/a.b.c"}},
		{[]string{"{.}", "{/}", "{//}", "{/.}", "{#}"}, []string{"d/a.b.c"}, []string{"d/a.b", "a.b.c", "d", "a.b", "7"}},
		{[]string{"{.}", "{//}", "{/.}"}, []string{"plain"}, []string{"plain", ".", "plain"}},
		{[]string{"{.}", "{/.}"}, []string{"d.e/.bashrc"}, []string{"d.e/.bashrc", ".bashrc"}},
		{[]string{"x{}y", "{}-{#}"}, []string{"a b"}, []string{"xa by", "a b-7"}},
		{[]string{"{2}", "{1.}", "{2/}"}, []string{"a.b", "c/d"}, []string{"c/d", "a", "d"}},
		{[]string{"{}", "<{}>"}, []string{"a", "b"}, []string{"a", "b", "<a b>"}},
		{[]string{"{3}", "{0}", "{x}", "{", "{{}}", "{ }"}, []string{"a"}, []string{"{3}", "{0}", "{x}", "{", "{a}", "{ }"}},
		{[]string{"{#}"}, nil, []string{"7"}},
	} {
		if got := Expand(c.argv, 7, c.entries); !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %q, want %q", c.argv, c.entries, got, c.want)
		}
	}
}

func TestWhatIsThere(t *testing.T) {
	for _, c := range []struct {
		argv         string
		any, entries bool
		highest      int
	}{
		{"a b", false, false, 0}, {"a {#}", true, false, 0}, {"a{}", true, true, 0}, {"{/.}", true, true, 0}, {"{2/} {11}", true, true, 11},
		{"{0} {x} {1", false, false, 0},
	} {
		argv := strings.Fields(c.argv)
		if Any(argv) != c.any || Entries(argv) != c.entries || Highest(argv) != c.highest {
			t.Errorf("%s: %v, %v, %d", c.argv, Any(argv), Entries(argv), Highest(argv))
		}
	}
}

// Whatever is written, what is no placeholder stays; and without one, everything does.
func FuzzExpand(f *testing.F) {
	f.Add("a{}b{2/.}{#}", "x/y.z", "")
	f.Fuzz(func(t *testing.T, argument, first, second string) {
		got := Expand([]string{argument}, 3, []string{first, second})
		if !Any([]string{argument}) && !slices.Equal(got, []string{argument}) {
			t.Errorf("%q became %q", argument, got)
		}
		if Entries([]string{argument}) && !Any([]string{argument}) || Highest([]string{argument}) > 0 && !Entries([]string{argument}) {
			t.Errorf("%q: it has a place for an entry, and none", argument)
		}
		if len(got) != 1 && len(got) != 2 {
			t.Errorf("%q became %q", argument, got)
		}
	})
}
