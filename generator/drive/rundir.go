package drive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dodoor/generator"
)

// RunDir is the directory of a run with its open files: tasks.csv, nodes.csv and run.json.
type RunDir struct {
	Rows    *generator.Writer[generator.Row]
	Samples *generator.Writer[generator.NodeSample]

	path         string
	tasks, nodes *os.File
}

// CreateRunDir refuses a directory that holds a run: its rows are somebody's measurements.
func CreateRunDir(path string) (*RunDir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	d := &RunDir{path: path}
	var err error
	if d.tasks, err = d.create("tasks.csv"); err != nil {
		return nil, err
	}
	if d.nodes, err = d.create("nodes.csv"); err != nil {
		d.tasks.Close()
		return nil, err
	}
	if d.Rows, err = generator.NewRowWriter(d.tasks); err == nil {
		d.Samples, err = generator.NewNodeWriter(d.nodes)
	}
	if err != nil {
		return nil, errors.Join(err, d.tasks.Close(), d.nodes.Close())
	}
	return d, nil
}

func (d *RunDir) create(name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(d.path, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s holds a run already (%s): choose another directory", d.path, name)
	}
	return file, err
}

// WriteInfo writes run.json, whole or not at all.
func (d *RunDir) WriteInfo(info *generator.RunInfo) error {
	path := filepath.Join(d.path, "run.json")
	file, err := os.Create(path + ".partial")
	if err != nil {
		return err
	}
	if err := errors.Join(generator.WriteRunInfo(file, info), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".partial", path)
}

// Close puts every row on disk.
func (d *RunDir) Close() error {
	return errors.Join(d.Rows.Flush(), d.Samples.Flush(), d.tasks.Close(), d.nodes.Close())
}
