package procfs

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const nobody = 4194304 // more than there can be

// A folder belongs to the worker whose name it has, however odd the names are.
func TestOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-b./% -]{0,5}(\.[0-9]{1,3}){0,3}`)
		one, other := name.Draw(t, "one"), name.Draw(t, "other")
		dead := fmt.Sprintf("%s.%d.5", url.PathEscape(one), nobody)
		if orphaned(dead, one) != true || orphaned(dead, other) != (one == other) {
			t.Fatalf("%q: orphaned by %q %v, by %q %v", dead, one, orphaned(dead, one), other, orphaned(dead, other))
		}
		mine, err := OwnerName(one)
		if err != nil || strings.Contains(mine, "/") || orphaned(mine, one) {
			t.Fatalf("%q, %v: orphaned", mine, err)
		}
	})
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"", ".", "w", "w.1", "w..", "w.a.1", "w.1.a", "w.1.1.1", "x.4194304.1", "w.99999999999999999999.1"} {
		if orphaned(name, "w") {
			t.Errorf("%q is swept", name)
		}
	}
	for name, want := range map[string]bool{
		fmt.Sprintf("w.%d.1", nobody):      true,
		fmt.Sprintf("w.%d.1", os.Getpid()): true, // the number is used again
	} {
		if orphaned(name, "w") != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
