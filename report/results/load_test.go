package results

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/runfiles"
	"dodoor/report/reporttest"
)

func TestBadDirectories(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, run string)
		want  string
	}{
		"empty":         {func(t *testing.T, _, run string) { os.RemoveAll(run) }, "holds no run"},
		"not there":     {func(t *testing.T, dir, _ string) { os.RemoveAll(dir) }, "no such file"},
		"half the rows": {func(t *testing.T, _, run string) { reporttest.Damage(t, reporttest.Half, run, runfiles.Tasks) }, "cut off"},
		"half run.json": {func(t *testing.T, _, run string) { reporttest.Damage(t, reporttest.Half, run, runfiles.Run) },
			"not a run description"},
		"no run.json": {func(t *testing.T, _, run string) { os.Remove(filepath.Join(run, runfiles.Run)) }, "has no run.json"},
		"no rows":     {func(t *testing.T, _, run string) { os.Remove(filepath.Join(run, runfiles.Tasks)) }, "not a complete run"},
		"still going on": {func(t *testing.T, _, run string) {
			reporttest.Damage(t, reporttest.Replace(`"ended": "`, `"ended": null, "x": "`), run, runfiles.Run)
		}, "did not end"},
		"another version": {func(t *testing.T, _, run string) {
			reporttest.Damage(t, reporttest.Replace(`"rows_version": 2`, `"rows_version": 3`), run, runfiles.Run)
		}, "another version of dodoor"},
		"renamed column": {func(t *testing.T, _, run string) {
			reporttest.Damage(t, reporttest.Replace("mode,", "kind,"), run, runfiles.Tasks)
		},
			"another version of dodoor"},
		"more columns": {func(t *testing.T, _, run string) {
			reporttest.Damage(t, reporttest.Replace("\n", ",more\n"), run, runfiles.Tasks)
		},
			"another version of dodoor"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := reporttest.Fixture{Policy: "dodoor", QPS: 10, Tasks: 20}.Write(t, dir)
			c.spoil(t, dir, run)
			if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Rows of another version are refused even among others: their figures would stand side by side.
func TestTwoVersionsOfRows(t *testing.T) {
	dir := reporttest.Campaign(t)
	reporttest.Damage(t, reporttest.Replace(`"rows_version": 2`, `"rows_version": 3`), dir, "pot-qps10-seed2", runfiles.Run)
	if _, _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "pot-qps10-seed2") ||
		!strings.Contains(err.Error(), "another version") {
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
