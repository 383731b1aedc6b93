package conf

import (
	"testing"

	"pgregory.net/rapid"
)

func TestNearest(t *testing.T) {
	known := []string{"listen", "name", "b_delta", "b"}
	for word, want := range map[string]string{
		"b_detla": "b_delta", "bdelta": "b_delta", "lisen": "listen", "nam": "name", "bb": "b",
		"x": "", "": "", "colour": "", "beta": "",
	} {
		if got, ok := nearest(word, known); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
}

// The row-by-row distance is the one of the recursive definition.
func TestEditDistance(t *testing.T) {
	var plain func(a, b string) int
	plain = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		last := plain(a[1:], b[1:])
		if a[0] != b[0] {
			last = 1 + min(last, plain(a[1:], b), plain(a, b[1:]))
		}
		return last
	}
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if got, want := editDistance(a, b), plain(a, b); got != want {
			t.Fatalf("%s to %s is %d, want %d", a, b, got, want)
		}
	})
}
