package identity

import (
	"strings"
	"testing"
)

// An identity is spelled in one way, and whoever reads it finds the same.
func TestParse(t *testing.T) {
	for _, id := range []Identity{{DataService, "datastore"}, {Scheduler, "scheduler-1"}, {Worker, "m510-12.lab"}, {Operator, "operator"},
		{User, "al_ice"}} {
		if got, err := Parse(id.URI("lab.example"), "lab.example"); got != id || err != nil {
			t.Errorf("%s: got %v, %v", id.URI("lab.example"), got, err)
		}
	}
	if got, want := (Identity{Scheduler, "s1"}).URI("dodoor"), "spiffe://dodoor/scheduler/s1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is no identity of the domain is told in words.
func TestParseRefuses(t *testing.T) {
	for uri, want := range map[string]string{
		"":                                 "is not spiffe://dodoor/ROLE/NAME",
		"https://dodoor/user/alice":        "is not spiffe://dodoor/ROLE/NAME",
		"SPIFFE://dodoor/user/alice":       "is not spiffe://dodoor/ROLE/NAME",
		"spiffe://dodoor/user":             "is not spiffe://dodoor/ROLE/NAME",
		"spiffe://dodoor/user/alice/":      "is not spiffe://dodoor/ROLE/NAME",
		"spiffe://other/user/alice":        `of the domain "other"`,
		"spiffe://Dodoor/user/alice":       `of the domain "Dodoor"`,
		"spiffe://dodoor/root/alice":       `"root" is no role`,
		"spiffe://dodoor/nobody/alice":     `"nobody" is no role`,
		"spiffe://dodoor/User/alice":       `"User" is no role`,
		"spiffe://dodoor/user/":            "is empty",
		"spiffe://dodoor/user/..":          "begins with",
		"spiffe://dodoor/user/-rf":         "begins with",
		"spiffe://dodoor/user/a%20b":       "has the character '%'",
		"spiffe://dodoor/user/alice?x=1":   "has the character '?'",
		"spiffe://dodoor/user/\x1b[2J":     "has the character",
		"spiffe://dodoor/user/" + long(65): "has 65 bytes",
	} {
		if id, err := Parse(uri, "dodoor"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: got %v, %v; want an error with %q", uri, id, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("a", n) }

// FuzzParse: what is read is what would be written, and a message about anything else has no characters that do something to a terminal.
func FuzzParse(f *testing.F) {
	for _, uri := range []string{"spiffe://dodoor/user/alice", "spiffe://dodoor/scheduler/s-1", "spiffe://a/b/c", "spiffe://dodoor//", "://"} {
		f.Add(uri, "dodoor")
	}
	f.Fuzz(func(t *testing.T, uri, domain string) {
		id, err := Parse(uri, domain)
		switch {
		case err == nil && id.URI(domain) != uri:
			t.Errorf("%q was read as %v, which is %q", uri, id, id.URI(domain))
		case err == nil && id.Check() != nil:
			t.Errorf("%q: %v", uri, id.Check())
		case err != nil && CheckDomain(domain) == nil && strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' || c == 127 }):
			t.Errorf("%q: the message %q", uri, err)
		}
	})
}
