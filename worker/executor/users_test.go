package executor

import (
	"slices"
	"testing"
)

func TestEntriesOfUsers(t *testing.T) {
	list := []string{"/bin/a", "alice=/bin/b", "bob=*", "/opt/x=y/", "alice=sim:3", "alice=reg/sim:3"}
	for user, want := range map[string][]string{
		"":      {"/bin/a", "/opt/x=y/"},
		"alice": {"/bin/a", "/bin/b", "/opt/x=y/", "sim:3", "reg/sim:3"},
		"bob":   {"/bin/a", "*", "/opt/x=y/"},
	} {
		if got := EntriesFor(list, user); !slices.Equal(got, want) {
			t.Errorf("%q: %v", user, got)
		}
	}
	if got := AllEntries([]string{"/bin/a", "bob=/bin/a", "bob=*"}); !slices.Equal(got, []string{"/bin/a", "*"}) {
		t.Errorf("%v", got)
	}
}
