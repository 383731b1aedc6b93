// Package transcript plays scenarios against the state machines: what one was told and what it answered, in a
// text file that reads like minutes. Only tests import it.
//
//	# The rule that the scenario shows.
//	submit t1 cores=1 ms=100 at=2s
//	----
//	send t1 to a as 1
//
// A scenario is a file below testdata, *.txt, in the format of package datadriven: a command, its arguments (words, and
// key=value or key=(value, value)), a line of four dashes, what came of it, an empty line. The argument at sets
// the scenario's clock, which begins at zero and never goes back. `go test ./PACKAGE -rewrite` writes what comes
// of the commands into the files; a change of behaviour is then a difference to review.
package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// Command is one command of a scenario.
type Command struct {
	Verb  string
	Words []string      // the arguments without a value
	Pairs []Pair        // the others, but for the clock
	Now   time.Duration // the scenario's clock

	T      testing.TB // of the command
	data   *datadriven.TestData
	unread map[string]bool // keys that nobody asked for
}

// Pair is an argument with values.
type Pair = datadriven.CmdArg

// Play plays every scenario of a folder, each against a state machine of its own: start makes one and returns
// what carries a command out and says what came of it. An argument that it does not read is a mistake.
func Play(t *testing.T, folder string, start func(t *testing.T) func(c *Command) string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scenarios in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), "# ") {
				t.Fatalf("%s: a scenario begins with a comment that says which rule it shows (%v)", path, err)
			}
			play(t, path, start(t))
		})
	}
}

func play(t testing.TB, path string, perform func(c *Command) string) {
	var now time.Duration
	datadriven.RunTestAny(t, path, func(t testing.TB, d *datadriven.TestData) string {
		before := now
		if d.MaybeScanArgs(t, "at", &now); now < before {
			d.Fatalf(t, "it is %v already", before)
		}
		c := newCommand(t, d, now)
		outcome := perform(c)
		for key := range c.unread {
			c.Fatalf("%s has no argument %s", c.Verb, key)
		}
		return outcome
	})
}

func newCommand(t testing.TB, d *datadriven.TestData, now time.Duration) *Command {
	c := &Command{Verb: d.Cmd, Now: now, T: t, data: d, unread: map[string]bool{}}
	for _, a := range d.CmdArgs {
		switch {
		case len(a.Vals) == 0:
			c.Words = append(c.Words, a.Key)
		case a.Key != "at":
			c.Pairs = append(c.Pairs, a)
			c.unread[a.Key] = true
		}
	}
	return c
}

// Word returns the i-th argument without a value; the scenario fails when there are fewer.
func (c *Command) Word(i int) string {
	c.T.Helper()
	if i >= len(c.Words) {
		c.Fatalf("%s needs %d words, not %d", c.Verb, i+1, len(c.Words))
	}
	return c.Words[i]
}

// Value returns the value of an argument, or otherwise when it is not given; it reads what
// datadriven.TestData.ScanArgs does: numbers, strings, booleans, durations, and slices of them.
func Value[T any](c *Command, key string, otherwise T) T {
	c.T.Helper()
	delete(c.unread, key)
	c.data.MaybeScanArgs(c.T, key, &otherwise)
	return otherwise
}

// Each calls do with every argument that has values: for commands whose keys are names.
func (c *Command) Each(do func(p Pair)) {
	for _, p := range c.Pairs {
		delete(c.unread, p.Key)
		do(p)
	}
}

// Fatalf ends the scenario: it says what and in which line.
func (c *Command) Fatalf(format string, args ...any) {
	c.T.Helper()
	c.data.Fatalf(c.T, format, args...)
}

// Unknown ends a scenario with a command that nobody knows.
func (c *Command) Unknown() string {
	c.T.Helper()
	c.Fatalf("no command is called %q", c.Verb)
	return ""
}
