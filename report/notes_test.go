package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"dodoor/internal/runfiles"
	"dodoor/report/group"
	"dodoor/report/metrics"
	"dodoor/report/page"
	"dodoor/report/reporttest"
	"dodoor/report/results"
)

// Half a run among whole ones is left out, and whoever reads the report is told.
func TestHalfARunAmongOthers(t *testing.T) {
	dir := reporttest.Campaign(t)
	reporttest.Damage(t, reporttest.Half, dir, "dodoor-qps10-seed1", runfiles.Tasks)
	runs, notes, err := results.Load(dir)
	if err != nil || len(runs) != 11 || len(notes) != 1 || !strings.Contains(notes[0], "left out") ||
		!strings.Contains(notes[0], "dodoor-qps10-seed1") {
		t.Fatalf("%d runs, notes %q, %v", len(runs), notes, err)
	}
	text, err := page.Render(runs, nil, notes)
	if err != nil || !strings.Contains(string(text), "left out") || !strings.Contains(string(listMarkdown(nil, notes)), "left out") {
		t.Errorf("the page or the table does not say what was left out: %v", err)
	}
}

func TestVersionsOfDodoor(t *testing.T) {
	dir := reporttest.Campaign(t)
	version := func(run, v string) {
		reporttest.Damage(t, reporttest.Replace(`"versions": null`, `"versions": {"dodoor": "`+v+`"}`), dir, run, runfiles.Run)
	}
	version("dodoor-qps10-seed1", "v1.2.3")
	version("dodoor-qps10-seed2", "v1.9.0")
	runs, _, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if notes := remarks(runs, group.Of(runs)); len(notes) != 1 || !strings.Contains(notes[0], "3 builds") {
		t.Errorf("got %q", notes)
	}
	version("pot-qps10-seed1", "v2.0.0")
	if _, err := Build(dir); err == nil || !strings.Contains(err.Error(), "different major versions") {
		t.Errorf("got %v", err)
	}
}

// What a comparison says of a figure stands in summary.csv under the same key, and no two columns have one name.
func TestPicksAreComplete(t *testing.T) {
	var keys []string
	for _, c := range csvColumns {
		keys = append(keys, c.name)
	}
	for _, m := range csvFigures {
		keys = append(keys, m.Key)
	}
	if sorted := slices.Sorted(slices.Values(keys)); sorted[0] == "" || len(slices.Compact(sorted)) != len(keys) {
		t.Errorf("a column has no name, or two have the same: %q", keys)
	}
	text, err := json.Marshal(metrics.Compare([]*metrics.Summary{{Policy: "dodoor"}}, "dodoor")[0])
	if err != nil {
		t.Fatal(err)
	}
	var compared map[string]any
	if err := json.Unmarshal(text, &compared); err != nil {
		t.Fatal(err)
	}
	for key := range compared {
		own := key == "runs" || key == "incomplete" || strings.HasSuffix(key, "_change")
		if !own && !slices.Contains(keys, key) {
			t.Errorf("comparison.json has %q, and summary.csv has not", key)
		}
	}
}
