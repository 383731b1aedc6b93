package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dodoor/generator"
)

// ReadRun reads run.json of a run that may have been cut off (then its Ended is nil). The error is
// fs.ErrNotExist when there is no run.
func ReadRun(dir string) (*generator.RunInfo, error) {
	path := filepath.Join(dir, runFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := generator.ReadRunInfo(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return info, nil
}

// RemoveRun clears a run away: the files that a run writes, and then the directory, which must hold
// nothing else.
func RemoveRun(dir string) error {
	for _, name := range []string{tasksFile, "nodes.csv", summaryFile, runFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(dir)
}
