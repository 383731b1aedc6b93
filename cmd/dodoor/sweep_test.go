package main

import (
	"bytes"
	"testing"

	"dodoor/internal/keeper"
)

// Who looks for what did not die learns why that is.
func TestWhatDoesNotDie(t *testing.T) {
	const disk, user = "dodoor: 2 processes of tasks do not die: they wait for a disk or the like\n",
		"dodoor: 1 processes of tasks are other users', and this one may not kill them: root can\n"
	t.Setenv("TMPDIR", t.TempDir())
	for want, end := range map[string]keeper.End{"": {}, disk: {Left: 2}, user: {Left: 1, Denied: 1}, disk + user: {Left: 3, Denied: 1}} {
		var said bytes.Buffer
		if end.Code = 7; sweep(&end, &said) != 7 || said.String() != want {
			t.Errorf("%+v: %q", end, &said)
		}
	}
}
