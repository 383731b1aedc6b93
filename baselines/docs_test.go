package baselines

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryPolicyIsDocumented(t *testing.T) {
	doc := manual(t)
	for _, name := range Names() {
		if !strings.Contains(doc, "\n### `"+name+"`\n") || !strings.Contains(doc, "\n| [`"+name+"`](#") {
			t.Errorf("docs/policies.md has no section or no table row for %s", name)
		}
	}
	const oracle = 1 // which the simulator has beside the catalogue
	if sections := strings.Count(doc, "\n### "); sections != len(Names())+oracle {
		t.Errorf("%d sections for %d policies and the oracle", sections, len(Names()))
	}
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

func TestDocumentedDefaults(t *testing.T) {
	doc := manual(t)
	k := DefaultKnobs()
	for knob, value := range map[string]any{
		"score.alpha": k.Alpha, "score.beta": k.Beta, "score.kind": k.Score,
		"prequal.latency": k.Prequal.Latency, "prequal.reuse": k.Prequal.Reuse, "prequal.age_limit": k.Prequal.MaxAge,
		"prequal.pool": k.Prequal.Pool, "prequal.q_rif": k.Prequal.Quantile, "prequal.probes": k.Prequal.Probes,
		"prequal.remove": k.Prequal.Removals, "prequal.delta": k.Prequal.Delta, "yarp.period": k.Yarp.Period,
		"ect.samples": k.Samples, "dodoor_plus.score": k.Plus.Score, "dodoor_plus.view": k.Plus.View, "dodoor_plus.home": k.Plus.Home,
		"dodoor_plus.foreign": k.Plus.Foreign, "dodoor_plus.gain": k.Plus.Gain, "dodoor_plus.adaptive": k.Plus.Adaptive,
		"dodoor_plus.weighted": k.Plus.Weighted, "dodoor_plus.ties": k.Plus.Ties,
	} {
		if row := fmt.Sprintf("\n| `%s` | `%v` |", knob, value); !strings.Contains(doc, row) {
			t.Errorf("docs/policies.md has no row%q", row)
		}
	}
}
