// Package first begins a command that runs tasks under a keeper, before the other packages of the program are initialised:
// that would take longer than all the rest. Only the command itself imports it.
package first

import (
	"os"
	"slices"

	"dodoor/internal/keeper"
)

// Commands are those that may run tasks in their process.
var Commands = []string{"worker", "local", "run", "compare", "calibrate", "profile"}

func init() {
	if len(os.Args) > 1 && slices.Contains(Commands, os.Args[1]) {
		keeper.Begin()
	}
}
