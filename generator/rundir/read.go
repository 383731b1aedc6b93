// Package rundir writes the directory of a run, and reads it.
package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dodoor/generator"
	"dodoor/internal/runfiles"
)

// Read reads run.json of a run that may have been cut off (then its Ended is nil). The error is
// fs.ErrNotExist when there is no run.
func Read(dir string) (*generator.RunInfo, error) {
	path := filepath.Join(dir, runfiles.Run)
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

// Remove clears a run away: the files that a run writes, and then the directory, which must hold
// nothing else.
func Remove(dir string) error {
	for _, name := range []string{runfiles.Tasks, runfiles.Nodes, runfiles.Summary, runfiles.Run} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(dir)
}

// Holds reports whether dir holds a run, or what is left of one.
func Holds(dir string) bool {
	for _, name := range [...]string{runfiles.Run, runfiles.Tasks} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// EachRow hands every row of the run in dir to add. That there are fewer rows than tasks, or more, is
// an error.
func EachRow(dir string, info *generator.RunInfo, add func(*generator.Row)) error {
	path := filepath.Join(dir, runfiles.Tasks)
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
		return fmt.Errorf("%s has %d rows and %s speaks of %d tasks: the run is not complete", path, n, runfiles.Run, info.Tasks)
	}
	return nil
}

// ReadEnded is Read of a run that has to be over.
func ReadEnded(dir string) (*generator.RunInfo, error) {
	info, err := Read(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the directory of a run: it has no %s", dir, runfiles.Run)
	}
	if err != nil {
		return nil, err
	}
	if info.Ended == nil {
		return nil, fmt.Errorf("%s: the run did not end: it was killed, or is still going on", filepath.Join(dir, runfiles.Run))
	}
	return info, nil
}
