package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dodoor/generator"
)

// The files of a run directory.
const (
	runFile     = "run.json"
	tasksFile   = "tasks.csv"
	summaryFile = "summary.json"
)

// Summarise folds the run in dir. A run that did not end, or whose rows are not all there, is an
// error: its figures would be wrong without looking wrong.
func Summarise(dir string) (*Summary, error) {
	info, err := readRunInfo(dir)
	if err != nil {
		return nil, err
	}
	fold := NewFold(info)
	if err := eachRow(dir, info, fold.Add); err != nil {
		return nil, err
	}
	return fold.Summary(), nil
}

// eachRow hands every row of the run in dir to add. That there are fewer rows than tasks, or more, is
// an error.
func eachRow(dir string, info *generator.RunInfo, add func(*generator.Row)) error {
	path := filepath.Join(dir, tasksFile)
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s is not a complete run: %w", dir, err)
	}
	defer file.Close()
	n := 0
	for rows := generator.NewRowReader(file); ; n++ {
		var row generator.Row
		err := rows.Read(&row)
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		add(&row)
	}
	if n != info.Tasks {
		return fmt.Errorf("%s has %d rows and %s speaks of %d tasks: the run is not complete", path, n, runFile, info.Tasks)
	}
	return nil
}

func readRunInfo(dir string) (*generator.RunInfo, error) {
	path := filepath.Join(dir, runFile)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the directory of a run: it has no %s", dir, runFile)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := generator.ReadRunInfo(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if info.Ended == nil {
		return nil, fmt.Errorf("%s: the run did not end: it was killed, or is still going on", path)
	}
	return info, nil
}

// WriteSummary writes summary.json into dir, whole or not at all.
func WriteSummary(dir string, s *Summary) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, summaryFile), append(text, '\n'))
}

// writeFile writes a file whole or not at all.
func writeFile(path string, text []byte) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, text, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// ReadSummary reads the summary.json of dir.
func ReadSummary(dir string) (*Summary, error) {
	path := filepath.Join(dir, summaryFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s Summary
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: not a summary: %w", path, err)
	}
	return &s, nil
}
