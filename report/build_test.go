package report

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dodoor/internal/runfiles"
	"dodoor/report/figure"
	"dodoor/report/group"
	"dodoor/report/metrics"
	"dodoor/report/page"
	"dodoor/report/plots"
	"dodoor/report/reporttest"
	"dodoor/report/results"
)

// drawSVG builds a report with SVG plots alone: the other formats take long under the race detector,
// and package figure tests them.
func drawSVG(t *testing.T, dir string) *Result {
	t.Helper()
	result, err := build(dir, figure.Formats[:1])
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestReportOfACampaign(t *testing.T) {
	dir := reporttest.Campaign(t)
	result := drawSVG(t, dir)
	if result.Runs != 12 || result.Incomplete != 1 || len(result.Notes) != 0 {
		t.Errorf("got %+v", result)
	}
	var list []Listed
	err := json.Unmarshal([]byte(reporttest.Read(t, dir, runfiles.Summary)), &list)
	if err != nil || len(list) != 12 || list[0].Policy != "dodoor" || list[0].Completed != 120 {
		t.Errorf("summary.json: %d entries, %v", len(list), err)
	}
	records, err := csv.NewReader(strings.NewReader(reporttest.Read(t, dir, runfiles.CSV))).ReadAll()
	if err != nil || len(records) != 13 || records[0][0] != "run" {
		t.Errorf("summary.csv: %d lines, %v", len(records), err)
	}
	if rows := regexp.MustCompile(`(?m)^\| +(10|40) \|`).FindAllString(reporttest.Read(t, dir, runfiles.Markdown), -1); len(rows) != 6 {
		t.Errorf("summary.md has %d rows, want three policies at two loads", len(rows))
	}
	t.Run("flagged", func(t *testing.T) { flagged(t, dir) })
	t.Run("page", func(t *testing.T) { selfContained(t, dir, result) })
}

func selfContained(t *testing.T, dir string, result *Result) {
	page := reporttest.Read(t, dir, runfiles.Page)
	// Five figures by load; eight at each of two loads.
	if n := strings.Count(page, "<figure"); n != 5+2*8 || n != result.Plots || n != strings.Count(page, "<svg") {
		t.Errorf("%d figures and %d drawings on the page, %d plots", n, strings.Count(page, "<svg"), result.Plots)
	}
	for _, forbidden := range []string{"http://", "https://", "<script", "@import", "url("} {
		if strings.Contains(strings.ReplaceAll(page, "http://www.w3.org/", ""), forbidden) {
			t.Errorf("the page contains %q: it must not need anything else", forbidden)
		}
	}
}

// flagged: a run with lost tasks is marked in every table, and in every figure that it is part of.
func flagged(t *testing.T, dir string) {
	for file, want := range map[string]string{
		runfiles.CSV:      "INCOMPLETE: 3 lost",
		runfiles.Summary:  "INCOMPLETE: 3 lost",
		runfiles.Markdown: "| pot INCOMPLETE | 2 | 237 of 240 |",
		runfiles.Page:     "INCOMPLETE: in 1 of 12 runs not every task finished",
	} {
		if !strings.Contains(reporttest.Read(t, dir, file), want) {
			t.Errorf("%s does not say %q", file, want)
		}
	}
	plots, _ := filepath.Glob(filepath.Join(dir, runfiles.Plots, "*.svg"))
	for _, path := range plots {
		marked := strings.Contains(reporttest.Read(t, path), "INCOMPLETE")
		if part := !strings.Contains(path, "qps10"); marked != part {
			t.Errorf("%s: marked is %t, but the incomplete run being part of it is %t", filepath.Base(path), marked, part)
		}
	}
}

// Everything is lost: there is nothing to draw but zeros, and that must not fail.
func TestRunWithoutAnyPlacement(t *testing.T) {
	dir := t.TempDir()
	reporttest.Fixture{Policy: "dodoor", QPS: 10, Tasks: 5, Lost: 5}.Write(t, dir)
	if result := drawSVG(t, dir); result.Incomplete != 1 {
		t.Errorf("got %+v", result)
	}
}

func TestReportOfOneRun(t *testing.T) {
	dir := reporttest.Fixture{Policy: "dodoor", QPS: 10, Seed: 1, Tasks: 50}.Write(t, t.TempDir())
	result, err := Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range figure.Formats {
		if files, _ := filepath.Glob(filepath.Join(dir, runfiles.Plots, "*."+format)); len(files) != result.Plots {
			t.Errorf("%d plots as %s", len(files), format)
		}
	}
	var s metrics.Summary
	if err := json.Unmarshal([]byte(reporttest.Read(t, dir, runfiles.Summary)), &s); err != nil || s.Tasks != 50 {
		t.Errorf("summary.json of a run must stay one object: %+v, %v", s, err)
	}
	if result.Runs != 1 || result.Plots != 5+8 || result.Incomplete != 0 {
		t.Errorf("got %+v", result)
	}
}

// Figures of runs that have gone must go too.
func TestSameRunsSameBytes(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []reporttest.Fixture{{Policy: "dodoor", QPS: 10}, {Policy: "pot", QPS: 10}} {
		f.Tasks = 60
		f.Write(t, dir)
	}
	files := func() map[string]string {
		drawSVG(t, dir)
		all := map[string]string{}
		for _, pattern := range []string{"summary.*", runfiles.Page, filepath.Join(runfiles.Plots, "*")} {
			paths, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				all[path] = reporttest.Read(t, path)
			}
		}
		return all
	}
	first := files()
	if err := os.WriteFile(filepath.Join(dir, runfiles.Plots, "throughput-qps99.svg"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second := files()
	if len(first) != 4+13 || len(second) != len(first) {
		t.Fatalf("%d and %d files", len(first), len(second))
	}
	for path, text := range first {
		if text != second[path] {
			t.Errorf("%s differs the second time", filepath.Base(path))
		}
	}
}

// Names come from files that people edit.
func TestNamesAreEscaped(t *testing.T) {
	dir := t.TempDir()
	reporttest.Fixture{Policy: `<b>&"x|y`, QPS: 10, Tasks: 20}.Write(t, dir)
	runs, _, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	groups := group.Of(runs)
	page, err := page.Render(runs, []page.Group{{Group: &groups[0]}}, nil)
	if err != nil || strings.Contains(string(page), "<b>&") || !strings.Contains(string(page), "&lt;b&gt;") {
		t.Errorf("the page contains the name unescaped, or not at all: %v", err)
	}
	if !strings.Contains(string(listMarkdown(groups, nil)), `x\|y`) {
		t.Error("a bar in a name ends its cell")
	}
}

// Right estimates need no figure, but a word.
func TestExactEstimates(t *testing.T) {
	dir := t.TempDir()
	reporttest.Fixture{Policy: "dodoor", QPS: 10, Tasks: 50, Estimate: 1}.Write(t, dir)
	drawSVG(t, dir)
	page := reporttest.Read(t, dir, runfiles.Page)
	if strings.Contains(page, "estimates-qps10") || !strings.Contains(page,
		"Every task took what had been estimated, to 1 %: there are no figures of estimates.") {
		t.Error("the page has figures of estimates, or does not say why it has none")
	}
	none := t.TempDir()
	reporttest.Fixture{Policy: "dodoor", QPS: 10, Tasks: 50}.Write(t, none)
	if note := plots.EstimateNote(&load(t, none)[0]); note != "" {
		t.Errorf("without estimates: %q", note)
	}
}

func load(t *testing.T, dir string) []group.Group {
	t.Helper()
	runs, _, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return group.Of(runs)
}
