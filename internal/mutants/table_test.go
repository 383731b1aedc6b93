package mutants

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	results = flag.String("results", "", "folder of what became of the mutants, one file of gremlins' for each package")
	command = flag.String("command", "", "write docs/mutants.md as what this command found")
)

// packages are those whose code is pure; their tests alone have to notice.
var packages = []string{"datastore", "scheduler", "baselines", "worker", "generator", "sim"}

// enough is the share of a package's mutants that has to be killed or explained, in percent.
const enough = 90

// strict are the files of which nothing may survive: the accounting, and delivery.
var strict = []string{
	"datastore/aggregate.go", "datastore/pusher.go", "datastore/store.go",
	"generator/client.go", "generator/results.go", "generator/submissions.go",
	"scheduler/audit.go", "scheduler/delivery.go", "scheduler/delta.go", "scheduler/flusher.go", "scheduler/results.go", "scheduler/stream.go",
	"sim/audit.go", "sim/ledger.go",
	"worker/ledger.go", "worker/notifier.go", "worker/reporter.go",
}

// found is gremlins' file.
type found struct {
	Files []struct {
		Name      string `json:"file_name"`
		Mutations []struct {
			Type   string
			Status string
			Line   int
			Column int // in bytes, from 1
		}
	}
}

// tally is a row of the table. A mutant on which the tests never end is noticed as well as one on which they fail.
type tally struct {
	mutants, killed, endless, uncovered, survived, explained int
	alive                                                    []string // uncovered or survived, and not explained
}

func (c *tally) share() float64 {
	return 100 * float64(c.killed+c.endless+c.explained) / float64(max(c.mutants, 1))
}

// count reads what became of a package's mutants. Those that do not compile are none.
func count(t *testing.T, l *list, pkg string) tally {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*results, pkg+".json"))
	if err != nil {
		t.Errorf("%v: run make mutate", err)
		return tally{}
	}
	var f found
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	var c tally
	for _, file := range f.Files {
		name := pkg + "/" + file.Name
		source, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		for _, m := range file.Mutations {
			if m.Status == "NOT VIABLE" {
				continue
			}
			line := lines[m.Line-1]
			mutant, ok := mutate(line, m.Column-1, m.Type)
			if !ok {
				t.Fatalf("%s:%d:%d: no %s here: run make mutate again, the code has changed", name, m.Line, m.Column, m.Type)
			}
			line, mutant = strings.TrimSpace(line), strings.TrimSpace(mutant)
			c.mutants++
			switch {
			case m.Status == "KILLED":
				c.killed++
				continue
			case m.Status == "TIMED OUT":
				c.endless++
				continue
			case m.Status == "NOT COVERED":
				c.uncovered++
			default:
				c.survived++
			}
			if l.holds(name, line, mutant) {
				c.explained++
				continue
			}
			c.alive = append(c.alive, fmt.Sprintf("%s:%d: `%s` as `%s`", name, m.Line, line, mutant))
		}
	}
	slices.Sort(c.alive)
	return c
}

// In every package enough mutants are killed or explained, and in the strict files all of them. It writes the table.
func TestMutants(t *testing.T) {
	if *results == "" {
		t.Skip("needs the results of make mutate")
	}
	l := readList(t)
	var table, alive strings.Builder
	for _, pkg := range packages {
		c := count(t, &l, pkg)
		if c.mutants == 0 {
			continue // said by count
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d | %d | %.1f %% |\n", pkg, c.mutants, c.killed, c.endless, c.uncovered, c.survived,
			c.explained, c.share())
		if c.share() < enough {
			t.Errorf("%s: %.1f %% of the mutants are killed or explained, want %d %%", pkg, c.share(), enough)
		}
		for _, m := range c.alive {
			fmt.Fprintf(&alive, "* %s\n", m)
			if file, _, _ := strings.Cut(m, ":"); slices.Contains(strict, file) {
				t.Errorf("%s is noticed by no test: write one, or say in docs/mutants.toml why it is harmless", m)
			}
		}
	}
	t.Logf("\n%s\n%s", &table, &alive)
	if *command != "" {
		write(t, table.String(), alive.String(), &l)
	}
}

func write(t *testing.T, table, alive string, l *list) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `# Mutants

%s

The pure packages, changed in one place at a time: a comparison, a sign, a step, a connective, an assignment. Tests
should notice each change; a package's own short tests decide. *Killed*: a test failed. *Endless*: the tests did not end,
which is noticed as well. *Not covered*: no test reaches the place. *Explained*: of those and the survivors, the ones
that [mutants.toml](mutants.toml) lists with the reason why they are harmless. What does not compile is left out.
[CONTRIBUTING.md](../CONTRIBUTING.md#mutants) says how to run it.

| package | mutants | killed | endless | not covered | survived | explained | killed or explained |
|---|---|---|---|---|---|---|---|
%s
`, *command, table)
	if alive != "" {
		fmt.Fprintf(&b, "## Neither killed nor explained\n%s\n", alive)
	}
	b.WriteString("## Explained\n")
	for _, e := range l.Same {
		fmt.Fprintf(&b, "* %s: %s\n", e.File, e.Why)
		for _, pair := range e.Lines {
			fmt.Fprintf(&b, "  * `%s` as `%s`\n", pair[0], pair[1])
		}
	}
	if err := os.WriteFile(filepath.Join(root, "docs", "mutants.md"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
