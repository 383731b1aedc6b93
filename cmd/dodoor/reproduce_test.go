package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/campaign"
)

// quickly runs three studies with few tasks and returns every file that they write, by name.
func quickly(t *testing.T, jobs int) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	r := reproduction{
		options: campaign.Options{Seeds: 2, Quick: true, Only: []string{"rerun", "staleness", "failures"}},
		jobs:    jobs, page: filepath.Join(dir, "docs", "page.md"), results: filepath.Join(dir, "results.json"),
		quiet: true, stderr: io.Discard, now: func() time.Time { return noon },
	}
	if code, err := r.run(t.Context()); err != nil || code != exitDone {
		t.Fatalf("exit code %d: %v", code, err)
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[strings.TrimPrefix(path, dir+"/")], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The same campaign writes the same bytes, however many runs go on at the same time.
func TestReproduce(t *testing.T) {
	first, second := quickly(t, 1), quickly(t, 3)
	for _, name := range []string{"docs/page.md", "docs/plots/reproduction-staleness.svg", "results.json"} {
		if len(first[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	if len(first) != len(second) {
		t.Errorf("%d files, then %d", len(first), len(second))
	}
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s differs between one job and three", name)
		}
	}
	page := string(first["docs/page.md"])
	for _, want := range []string{
		"`dodoor reproduce -seeds 2 -study rerun,staleness,failures -quick`", "Azure trace: synthetic", "| Control messages against PoT",
		"−55.0 %", "(plots/reproduction-staleness.svg)", "<a id=\"failures\">", "**Stale views.**",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<a id=\"azure\">") || strings.Contains(page, "Duration") {
		t.Error("the page has a study that was not asked for, or a duration that nobody measured")
	}
}

// A picture of an earlier campaign does not stay beside a page that does not show it; other files do.
func TestReproduceClearsItsPictures(t *testing.T) {
	dir := t.TempDir()
	plots := filepath.Join(dir, "plots")
	if err := os.MkdirAll(plots, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"reproduction-old.svg", "makespan.svg"} {
		if err := os.WriteFile(filepath.Join(plots, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, stderr, code := dodoor("reproduce", "-quick", "-study", "batch", "-out", filepath.Join(dir, "page.md"), "-json", filepath.Join(dir, "results.json"))
	if code != exitDone || !strings.Contains(stdout, "page.md") || !strings.Contains(stderr, "10 of 10 runs") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	left, err := filepath.Glob(filepath.Join(plots, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "makespan.svg" || filepath.Base(left[1]) != "reproduction-batch.svg" {
		t.Errorf("in plots/: %v, %v", left, err)
	}
}

func TestReproduceRefuses(t *testing.T) {
	dir := t.TempDir()
	out, list := filepath.Join(dir, "page.md"), filepath.Join(dir, "results.json")
	for want, args := range map[string][]string{
		`no study is called "rerum"`: {"-study", "rerun,rerum"},
		"0 seeds":                    {"-seeds", "0"},
		"-jobs is 0":                 {"-jobs", "0"},
		`unexpected argument "now"`:  {"now"},
		"not defined":                {"-conf", "paper"},
		"no such file":               {"-quick", "-study", "azure", "-azure", "/nowhere/azure.csv"},
		"/dev/null":                  {"-quick", "-study", "batch", "-out", "/dev/null/page.md"},
	} {
		if _, stderr, code := dodoor(append([]string{"reproduce", "-out", out, "-json", list}, args...)...); code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, says %q", args, code, stderr)
		}
	}
}
