package conf

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dodoor/baselines"
	"dodoor/scheduler"
)

var rewrite = flag.Bool("rewrite", false, "write the policies' tables into docs/configuration.md instead of checking them")

// The policies' tables in docs/configuration.md are what the policies say of their knobs.
func TestPolicyTables(t *testing.T) {
	const file, begin, end = "../docs/configuration.md", "<!-- policies: go test ./conf -run PolicyTables -rewrite -->\n",
		"<!-- end of policies -->\n"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, opened := strings.Cut(string(text), begin)
	shown, after, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for the tables, between %q and %q", file, begin, end)
	}
	want := policyTables(printedDefaults(t))
	if *rewrite {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if shown != want {
		t.Errorf("the tables of policies in %s are not what the policies say: go test ./conf -run PolicyTables -rewrite, and look at the "+
			"difference", file)
	}
}

// policyTables is a section per table, with the defaults by path.
func policyTables(defaults map[string]string) string {
	var b strings.Builder
	for _, knobs := range baselines.Defaults() {
		table := knobs.Table()
		fmt.Fprintf(&b, "## `[%s]`\n\n", table.Name)
		if table.About != "" {
			fmt.Fprintf(&b, "%s\n\n", table.About)
		}
		b.WriteString("| key | default | allowed | meaning |\n|---|---|---|---|\n")
		for _, k := range table.Knobs {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", k.Key, defaults[table.Name+"."+k.Key], allowed(&k), k.Means)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// allowed is the range of a knob in a few words.
func allowed(k *scheduler.Knob) string {
	r := &k.Range
	switch k.Value.(type) {
	case *bool:
		return "`true`, `false`"
	case *string:
		return "`\"" + strings.Join(r.Words, "\"`, `\"") + "\"`"
	case *time.Duration:
		if r.Zero != "" {
			return "0 = " + r.Zero + ", or a duration, in trace time"
		}
		return "duration, in trace time"
	}
	from, to := fmt.Sprint(r.Low), fmt.Sprint(r.High)
	if r.Above {
		from = "above " + from + ","
	}
	if r.Limit != "" {
		to = "`" + r.Limit + "`"
	}
	if r.Zero != "" {
		from = "0 = " + r.Zero + ", or " + from
	}
	return strings.TrimSpace(from + " to " + to + " " + k.Unit)
}
