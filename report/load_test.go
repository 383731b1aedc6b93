package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damage edits a file of a run.
func damage(t *testing.T, edit func(string) string, parts ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(parts...), []byte(edit(read(t, parts...))), 0o644); err != nil {
		t.Fatal(err)
	}
}

func replace(from, to string) func(string) string {
	return func(s string) string { return strings.Replace(s, from, to, 1) }
}

func half(s string) string { return s[:len(s)/2] }

func TestBadDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, run string)
		want  string
	}{
		"empty":         {func(t *testing.T, _, run string) { os.RemoveAll(run) }, "holds no run"},
		"not there":     {func(t *testing.T, dir, _ string) { os.RemoveAll(dir) }, "no such file"},
		"half the rows": {func(t *testing.T, _, run string) { damage(t, half, run, tasksFile) }, "cut off"},
		"half run.json": {func(t *testing.T, _, run string) { damage(t, half, run, runFile) }, "not a run description"},
		"no run.json":   {func(t *testing.T, _, run string) { os.Remove(filepath.Join(run, runFile)) }, "has no run.json"},
		"no rows":       {func(t *testing.T, _, run string) { os.Remove(filepath.Join(run, tasksFile)) }, "not a complete run"},
		"still going on": {func(t *testing.T, _, run string) {
			damage(t, replace(`"ended": "`, `"ended": null, "x": "`), run, runFile)
		}, "did not end"},
		"another version": {func(t *testing.T, _, run string) {
			damage(t, replace(`"rows_version": 2`, `"rows_version": 3`), run, runFile)
		}, "another version of dodoor"},
		"renamed column": {func(t *testing.T, _, run string) { damage(t, replace("mode,", "kind,"), run, tasksFile) }, "another version of dodoor"},
		"more columns":   {func(t *testing.T, _, run string) { damage(t, replace("\n", ",more\n"), run, tasksFile) }, "another version of dodoor"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := fixture{policy: "dodoor", qps: 10, tasks: 20}.write(t, dir)
			c.spoil(t, dir, run)
			if _, err := Build(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Half a run among whole ones is left out, and whoever reads the report is told.
func TestHalfARunAmongOthers(t *testing.T) {
	dir := campaign(t)
	damage(t, half, dir, "dodoor-qps10-seed1", tasksFile)
	runs, notes, err := LoadRuns(dir)
	if err != nil || len(runs) != 11 || len(notes) != 1 || !strings.Contains(notes[0], "left out") || !strings.Contains(notes[0], "dodoor-qps10-seed1") {
		t.Fatalf("%d runs, notes %q, %v", len(runs), notes, err)
	}
	page, err := renderPage(runs, nil, notes)
	if err != nil || !strings.Contains(string(page), "left out") || !strings.Contains(string(listMarkdown(nil, notes)), "left out") {
		t.Errorf("the page or the table does not say what was left out: %v", err)
	}
}

// Rows of another version are refused even among others: their figures would stand side by side.
func TestTwoVersionsOfRows(t *testing.T) {
	dir := campaign(t)
	damage(t, replace(`"rows_version": 2`, `"rows_version": 3`), dir, "pot-qps10-seed2", runFile)
	if _, err := Build(dir); err == nil || !strings.Contains(err.Error(), "pot-qps10-seed2") || !strings.Contains(err.Error(), "another version") {
		t.Errorf("got %v", err)
	}
}

func TestVersionsOfDodoor(t *testing.T) {
	dir := campaign(t)
	version := func(run, v string) {
		damage(t, replace(`"versions": null`, `"versions": {"dodoor": "`+v+`"}`), dir, run, runFile)
	}
	version("dodoor-qps10-seed1", "v1.2.3")
	version("dodoor-qps10-seed2", "v1.9.0")
	runs, _, err := LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	if notes := remarks(runs, GroupRuns(runs)); len(notes) != 1 || !strings.Contains(notes[0], "3 builds") {
		t.Errorf("got %q", notes)
	}
	version("pot-qps10-seed1", "v2.0.0")
	if _, err := Build(dir); err == nil || !strings.Contains(err.Error(), "different major versions") {
		t.Errorf("got %v", err)
	}
}

func TestMajor(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "v1", "v12": "v12", "development": "", "1.2": "", "v.1": "", "vx.1": "", "": ""} {
		if got := major(version); got != want {
			t.Errorf("major of %q is %q, want %q", version, got, want)
		}
	}
}
