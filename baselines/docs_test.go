package baselines

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"dodoor/scheduler"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var rewrite = flag.Bool("rewrite", false, "write the table of policies, and sections that are missing, into docs/policies.md")

const oracleRow = "| [`oracle`](#oracle) | all, in their true state (simulator only) | earliest finish | – |\n"

// The table in docs/policies.md is what the policies say of themselves, and every policy has a section.
func TestEveryPolicyIsDocumented(t *testing.T) {
	doc := manual(t)
	const header, oracleSection = "| policy | compares | by | control messages per task |\n|---|---|---|---|\n", "\n### `oracle`\n"
	before, rest, _ := strings.Cut(doc, header)
	_, after, found := strings.Cut(rest, oracleRow)
	if !found {
		t.Fatalf("docs/policies.md has no table from %q to %q", header, oracleRow)
	}
	table := header
	for _, p := range catalog() {
		table += fmt.Sprintf("| [`%s`](#%s) | %s | %s | %s |\n", p.Name, anchor(p.Name), p.Manual.Compares, p.Manual.By, p.Manual.Messages)
		if !strings.Contains(doc, "\n### `"+p.Name+"`\n") {
			after = strings.Replace(after, oracleSection, section(p)+oracleSection, 1)
		}
	}
	want := before + table + oracleRow + after
	if *rewrite {
		if err := os.WriteFile("../docs/policies.md", []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if doc != want {
		t.Error("docs/policies.md is not what the policies say: go test ./baselines -run Documented -rewrite, and look at the difference")
	}
	const oracle = 1 // which the simulator has beside the catalogue
	if sections := strings.Count(want, "\n### "); sections != len(Names())+oracle {
		t.Errorf("%d sections for %d policies and the oracle", sections, len(Names()))
	}
}

// section is what the manual says of a policy of which nobody has written more.
func section(p scheduler.Spec) string {
	text := fmt.Sprintf("\n### `%s`\nCompares %s, by %s.\n", p.Name, p.Manual.Compares, p.Manual.By)
	if p.Knobs != nil {
		text += fmt.Sprintf("\n*Knobs:* [`[%[1]s]`](configuration.md#%[1]s).\n", p.Knobs().Table().Name)
	}
	return text
}

// anchor is what a heading is called in links; dodoor+ comes second, behind dodoor.
func anchor(name string) string {
	if plain, plus := strings.CutSuffix(name, "+"); plus {
		return plain + "-1"
	}
	return name
}

// The example in the manual is the one that is compiled and run.
func TestTheDocumentedExampleIsTheCompiledOne(t *testing.T) {
	code, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(manual(t), "\n```go\n")
	shown, _, found := strings.Cut(rest, "```\n")
	if !found || shown != string(code) {
		t.Error("the code block in docs/policies.md differs from baselines/example_test.go")
	}
}
