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
	"dodoor/internal/wholefile"
)

// Dir is the directory of a run with its open files: tasks.csv, nodes.csv and run.json.
type Dir struct {
	Rows    *generator.Writer[generator.Row]
	Samples *generator.Writer[generator.NodeSample]

	path         string
	tasks, nodes *os.File
}

// Create makes the directory of a run. It refuses one that holds a run: its rows are somebody's measurements.
func Create(path string) (*Dir, error) {
	if err := os.MkdirAll(path, wholefile.FolderMode); err != nil {
		return nil, err
	}
	d := &Dir{path: path}
	var err error
	if d.tasks, err = d.create(runfiles.Tasks); err != nil {
		return nil, err
	}
	if d.nodes, err = d.create(runfiles.Nodes); err != nil {
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

func (d *Dir) create(name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(d.path, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, wholefile.FileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s holds a run already (%s): choose another directory", d.path, name)
	}
	return file, err
}

// WriteInfo writes run.json, whole or not at all.
func (d *Dir) WriteInfo(info *generator.RunInfo) error {
	return wholefile.WriteBy(filepath.Join(d.path, runfiles.Run), func(w io.Writer) error { return generator.WriteRunInfo(w, info) })
}

// Close puts every row on disk.
func (d *Dir) Close() error {
	return errors.Join(d.Rows.Flush(), d.Samples.Flush(), d.tasks.Close(), d.nodes.Close())
}
