package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/campaign"
)

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
	stdout, stderr, code := dodoor("reproduce", "-quick", "-study", "batch", "-out", filepath.Join(dir, "page.md"), "-json",
		filepath.Join(dir, "results.json"))
	if code != exitDone || !strings.Contains(stdout, "page.md") || !strings.Contains(stderr, "10 of 10 runs") {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	left, err := filepath.Glob(filepath.Join(plots, "*"))
	if err != nil || len(left) != 2 || filepath.Base(left[0]) != "makespan.svg" || filepath.Base(left[1]) != "reproduction-batch.svg" {
		t.Errorf("in plots/: %v, %v", left, err)
	}
}

// The page says with which command it can be made again, wherever its files are.
func TestReproduceSaysItsCommand(t *testing.T) {
	what := campaign.Options{Seeds: 2, Azure: "/somewhere/azure.csv", Only: []string{"rerun", "scale"}, Quick: true}
	if got, want := commandOf(what), "dodoor reproduce -seeds 2 -azure azure.csv -study rerun,scale -quick"; got != want {
		t.Errorf("%s, want %s", got, want)
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
		if _, stderr, code := dodoor(append([]string{"reproduce", "-out", out, "-json", list}, args...)...); code != exitUsage ||
			!strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, says %q", args, code, stderr)
		}
	}
}
