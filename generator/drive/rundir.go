package drive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"dodoor/generator"
)

// runDir is the directory of a run with its open files.
type runDir struct {
	path         string
	tasks, nodes *os.File
	rows         *generator.Writer[generator.Row]
	samples      *generator.Writer[generator.NodeSample]
}

// createRunDir refuses a directory that holds a run: its rows are somebody's measurements.
func createRunDir(path string) (*runDir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, err
	}
	d := &runDir{path: path}
	var err error
	if d.tasks, err = d.create("tasks.csv"); err != nil {
		return nil, err
	}
	if d.nodes, err = d.create("nodes.csv"); err != nil {
		d.tasks.Close()
		return nil, err
	}
	if d.rows, err = generator.NewRowWriter(d.tasks); err == nil {
		d.samples, err = generator.NewNodeWriter(d.nodes)
	}
	if err != nil {
		return nil, errors.Join(err, d.tasks.Close(), d.nodes.Close())
	}
	return d, nil
}

func (d *runDir) create(name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(d.path, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s holds a run already (%s): choose another directory", d.path, name)
	}
	return file, err
}

// writeInfo writes run.json, whole or not at all.
func (d *runDir) writeInfo(info *generator.RunInfo) error {
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

func (d *runDir) close() error {
	return errors.Join(d.rows.Flush(), d.samples.Flush(), d.tasks.Close(), d.nodes.Close())
}
