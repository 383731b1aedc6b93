package results

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/internal/runfiles"
	"dodoor/report/metrics"
	"dodoor/report/reporttest"
)

// runDir writes a run of one task; change may spoil the two files.
func runDir(t *testing.T, change func(run, tasks *string)) string {
	t.Helper()
	var run, tasks strings.Builder
	description, ended := reporttest.Info(), time.Unix(100, 0)
	description.Tasks, description.Ended = 1, &ended
	row := reporttest.Finished("a", 0, 10)
	w, err := generator.NewRowWriter(&tasks)
	if err != nil || w.Write(&row) != nil || w.Flush() != nil || generator.WriteRunInfo(&run, description) != nil {
		t.Fatal("writing failed")
	}
	r, rows := run.String(), tasks.String()
	change(&r, &rows)
	dir := t.TempDir()
	for name, content := range map[string]string{runfiles.Run: r, runfiles.Tasks: rows} {
		if content == "none" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSummariseAndBack(t *testing.T) {
	dir := runDir(t, func(*string, *string) {})
	s, err := Summarise(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Tasks != 1 || s.Completed != 1 {
		t.Errorf("got %+v", s)
	}
	if err := WriteSummary(dir, s); err != nil {
		t.Fatal(err)
	}
	again := new(metrics.Summary)
	if err := json.Unmarshal([]byte(reporttest.Read(t, dir, runfiles.Summary)), again); err != nil || !reflect.DeepEqual(s, again) {
		t.Errorf("wrote %+v\nread %+v, %v", s, again, err)
	}
}

func TestHalfARunIsRefused(t *testing.T) {
	for want, change := range map[string]func(run, tasks *string){
		"it has no run.json":             func(run, _ *string) { *run = "none" },
		"is not a complete run":          func(_, tasks *string) { *tasks = "none" },
		"run.json: not a run descr":      func(run, _ *string) { *run = (*run)[:len(*run)/2] },
		"the run did not end":            func(run, _ *string) { *run = `{"rows_version":2,"time_scale":1,"ended":null}` },
		"tasks.csv: the file is empty":   func(_, tasks *string) { *tasks = "" },
		"tasks.csv: the last line is":    func(_, tasks *string) { *tasks = (*tasks)[:len(*tasks)-1] },
		"has 0 rows and run.json speaks": func(_, tasks *string) { *tasks, _, _ = strings.Cut(*tasks, "\n"); *tasks += "\n" },
		"column outcome":                 func(_, tasks *string) { *tasks = strings.Replace(*tasks, "finished,", "done,", 1) },
	} {
		_, err := Summarise(runDir(t, change))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := Summarise(filepath.Join(t.TempDir(), "nowhere")); err == nil {
		t.Error("a directory that does not exist has a summary")
	}
}

func TestMissingSaysWhat(t *testing.T) {
	r := Run{Summary: &metrics.Summary{Tasks: 3}}
	r.Summary.Lost, r.Summary.Failed, r.Info = 2, 1, &generator.RunInfo{Stopped: true}
	if got := r.Missing(); !strings.Contains(got, "1 failed, 2 lost, stopped") || r.Complete() {
		t.Errorf("got %q, complete %t", got, r.Complete())
	}
}
