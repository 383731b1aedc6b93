package testbed

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/internal/cluster"
)

// rows reads what became of the tasks of the only run below a folder: each is to have finished, once, and none to be missing.
// It also says when the run began.
func rows(t *testing.T, dir string, submitted int) (all []generator.Row, start time.Time) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "tasks.csv"))
	if err != nil || len(files) != 1 {
		t.Fatalf("runs in %s: %v, %v", dir, files, err)
	}
	file, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[string]bool{}
	for r := generator.NewRowReader(file); ; {
		var row generator.Row
		if err := r.Read(&row); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if seen[row.TaskID] || row.Outcome != cluster.Finished {
			t.Errorf("task %s: twice %v, %v %s", row.TaskID, seen[row.TaskID], row.Outcome, row.Reason)
		}
		seen[row.TaskID] = true
		all = append(all, row)
	}
	if len(all) != submitted {
		t.Errorf("%d tasks have a row, %d were submitted", len(all), submitted)
	}
	info, err := rundir.Read(filepath.Dir(files[0]))
	if err != nil {
		t.Fatal(err)
	}
	return all, info.Started
}

// between counts the tasks that were sent in some part of a run, which began at start.
func between(all []generator.Row, start, from, to time.Time) (n, again int) {
	for i := range all {
		if at := start.Add(all[i].Sent); at.After(from) && at.Before(to) {
			n++
			if all[i].Attempts > 1 {
				again++
			}
		}
	}
	return n, again
}
