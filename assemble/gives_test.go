package assemble

import (
	"os"
	"testing"

	"dodoor/internal/procgroup"
)

// What a container prints for somebody without an account on this machine is kept, as the worker's.
func TestOutputOfWhoHasNoAccount(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/x.out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	give := gives(procgroup.NewAccounts(procgroup.ByName), &procgroup.User{Name: "other", UID: -1, GID: -1})
	for _, submitter := range []string{"no-such-user", "root"} {
		if err := give(submitter, file); err != nil {
			t.Errorf("%s: %v", submitter, err)
		}
	}
}
