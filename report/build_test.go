package report

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dodoor/report/figure"
)

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

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
	dir := campaign(t)
	result := drawSVG(t, dir)
	if result.Runs != 12 || result.Incomplete != 1 || len(result.Notes) != 0 {
		t.Errorf("got %+v", result)
	}
	var list []Listed
	if err := json.Unmarshal([]byte(read(t, dir, summaryFile)), &list); err != nil || len(list) != 12 || list[0].Policy != "dodoor" || list[0].Completed != 120 {
		t.Errorf("summary.json: %d entries, %v", len(list), err)
	}
	records, err := csv.NewReader(strings.NewReader(read(t, dir, csvFile))).ReadAll()
	if err != nil || len(records) != 13 || records[0][0] != "run" {
		t.Errorf("summary.csv: %d lines, %v", len(records), err)
	}
	if rows := regexp.MustCompile(`(?m)^\| +(10|40) \|`).FindAllString(read(t, dir, markdownFile), -1); len(rows) != 6 {
		t.Errorf("summary.md has %d rows, want three policies at two loads", len(rows))
	}
	t.Run("flagged", func(t *testing.T) { flagged(t, dir) })
	t.Run("page", func(t *testing.T) { selfContained(t, dir, result) })
}

func selfContained(t *testing.T, dir string, result *Result) {
	page := read(t, dir, htmlFile)
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
		csvFile:      "INCOMPLETE: 3 lost",
		summaryFile:  "INCOMPLETE: 3 lost",
		markdownFile: "| pot INCOMPLETE | 2 | 237 of 240 |",
		htmlFile:     "INCOMPLETE: in 1 of 12 runs not every task finished",
	} {
		if !strings.Contains(read(t, dir, file), want) {
			t.Errorf("%s does not say %q", file, want)
		}
	}
	plots, _ := filepath.Glob(filepath.Join(dir, plotsDir, "*.svg"))
	for _, path := range plots {
		marked := strings.Contains(read(t, path), "INCOMPLETE")
		if part := !strings.Contains(path, "qps10"); marked != part {
			t.Errorf("%s: marked is %t, but the incomplete run being part of it is %t", filepath.Base(path), marked, part)
		}
	}
}

// A policy without a view has no view age; if no policy has one, there is no such figure.
func TestMissingQuantitiesAreLeftOut(t *testing.T) {
	dir := campaign(t)
	for _, p := range load(t, dir)[0].Plots() {
		if !strings.HasPrefix(p.Name, "view-age") {
			continue
		}
		for _, s := range p.Figure.Panels[0].Series {
			if strings.HasPrefix(s.Label, "random") {
				t.Errorf("%s shows random, which has no view", p.Name)
			}
		}
	}
	alone := t.TempDir()
	fixture{policy: "random", qps: 10, tasks: 50, noView: true}.write(t, alone)
	plots := load(t, alone)[0].Plots()
	if len(plots) != 5+7 || slices.ContainsFunc(plots, func(p Plot) bool { return strings.HasPrefix(p.Name, "view-age") }) {
		t.Errorf("%d figures, one of them of a view age that nobody has", len(plots))
	}
}

// Everything is lost: there is nothing to draw but zeros, and that must not fail.
func TestRunWithoutAnyPlacement(t *testing.T) {
	dir := t.TempDir()
	fixture{policy: "dodoor", qps: 10, tasks: 5, lost: 5}.write(t, dir)
	if result := drawSVG(t, dir); result.Incomplete != 1 {
		t.Errorf("got %+v", result)
	}
}

func TestReportOfOneRun(t *testing.T) {
	dir := fixture{policy: "dodoor", qps: 10, seed: 1, tasks: 50}.write(t, t.TempDir())
	result, err := Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range figure.Formats {
		if files, _ := filepath.Glob(filepath.Join(dir, plotsDir, "*."+format)); len(files) != result.Plots {
			t.Errorf("%d plots as %s", len(files), format)
		}
	}
	if s, err := ReadSummary(dir); err != nil || s.Tasks != 50 {
		t.Errorf("summary.json of a run must stay one object: %+v, %v", s, err)
	}
	if result.Runs != 1 || result.Plots != 5+8 || result.Incomplete != 0 {
		t.Errorf("got %+v", result)
	}
}

// Figures of runs that have gone must go too.
func TestSameRunsSameBytes(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []fixture{{policy: "dodoor", qps: 10}, {policy: "pot", qps: 10}} {
		f.tasks = 60
		f.write(t, dir)
	}
	files := func() map[string]string {
		drawSVG(t, dir)
		all := map[string]string{}
		for _, pattern := range []string{"summary.*", htmlFile, filepath.Join(plotsDir, "*")} {
			paths, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				all[path] = read(t, path)
			}
		}
		return all
	}
	first := files()
	if err := os.WriteFile(filepath.Join(dir, plotsDir, "throughput-qps99.svg"), nil, 0o600); err != nil {
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
	fixture{policy: `<b>&"x|y`, qps: 10, tasks: 20}.write(t, dir)
	runs, _, err := LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	groups := GroupRuns(runs)
	page, err := renderPage(runs, []pageGroup{{Group: &groups[0]}}, nil)
	if err != nil || strings.Contains(string(page), "<b>&") || !strings.Contains(string(page), "&lt;b&gt;") {
		t.Errorf("the page contains the name unescaped, or not at all: %v", err)
	}
	if !strings.Contains(string(listMarkdown(groups, nil)), `x\|y`) {
		t.Error("a bar in a name ends its cell")
	}
}
