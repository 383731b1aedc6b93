package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// quickly simulates two studies with few tasks and returns every file that they write, by name.
func quickly(t *testing.T, jobs int) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	files := Files{Page: filepath.Join(dir, "docs", "page.md"), Results: filepath.Join(dir, "results.json")}
	if err := files.Prepare(); err != nil {
		t.Fatal(err)
	}
	p := planOf(t, Options{Seeds: 2, Quick: true, Only: []string{"batch", "failures"}})
	results, err := p.Run(t.Context(), Simulate, jobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(files, results, About{Command: "dodoor reproduce"}); err != nil {
		t.Fatal(err)
	}
	written := map[string][]byte{}
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		written[strings.TrimPrefix(path, dir+"/")], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// The same campaign writes the same bytes, however many runs go on at the same time.
func TestSimulatedCampaign(t *testing.T) {
	first, second := quickly(t, 1), quickly(t, 3)
	for _, name := range []string{"docs/page.md", "docs/plots/reproduction-batch.svg", "results.json"} {
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
		"`dodoor reproduce`", "Azure trace: synthetic", "(plots/reproduction-batch.svg)", "<a id=\"batch\">", "<a id=\"failures\">",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<a id=\"azure\">") || strings.Contains(page, "Duration") {
		t.Error("the page has a study that was not asked for, or a duration that nobody measured")
	}
}
