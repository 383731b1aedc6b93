package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"dodoor/internal/terminal"
	"dodoor/internal/wholefile"
)

// Terminal writes what tasks print to standard output and standard error. A writer that holds something back is asked to write it
// at the end of a task.
type Terminal struct {
	Out, Err io.Writer
	Tag      func(position int64) string // goes before each line, with a tab; nil: nothing does

	tag  []byte
	open [2]bool // a line of the stream has begun
}

// Begin implements Sink.
func (t *Terminal) Begin(p *Printed) error {
	if t.Tag != nil && p.Bytes > 0 {
		t.tag = append(append(t.tag[:0], t.Tag(p.Position)...), '\t')
	}
	return nil
}

// Write implements Sink.
func (t *Terminal) Write(data []byte, errors bool) error {
	w, k := t.Out, 0
	if errors {
		w, k = t.Err, 1
	}
	if t.Tag == nil {
		_, err := w.Write(data)
		return err
	}
	var tagged bytes.Buffer
	for line := range bytes.Lines(data) {
		if !t.open[k] {
			tagged.Write(t.tag)
		}
		tagged.Write(line)
		t.open[k] = line[len(line)-1] != '\n'
	}
	_, err := w.Write(tagged.Bytes())
	return err
}

// End implements Sink. A line without an end gets one where lines have tags: the next task's tag would follow it.
func (t *Terminal) End() error {
	for k, w := range [...]io.Writer{t.Out, t.Err} {
		if err := terminal.Flush(w); err != nil {
			return err
		}
		if t.open[k] {
			t.open[k] = false
			if _, err := w.Write([]byte{'\n'}); err != nil {
				return err
			}
		}
	}
	return nil
}

// Folder writes what tasks print to INDEX.out and INDEX.err of a folder. Of a stream without a byte there is no file.
type Folder struct {
	Path  string
	Index func(position int64) int64

	index int64
	files [2]*os.File
}

// Begin implements Sink.
func (f *Folder) Begin(p *Printed) error {
	f.index = f.Index(p.Position)
	return nil
}

// Write implements Sink.
func (f *Folder) Write(data []byte, errors bool) (err error) {
	k, suffix := 0, ".out"
	if errors {
		k, suffix = 1, ".err"
	}
	if len(data) == 0 {
		return nil
	}
	if f.files[k] == nil {
		path := filepath.Join(f.Path, strconv.FormatInt(f.index, 10)+suffix)
		if f.files[k], err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, wholefile.FileMode); err != nil {
			return err
		}
	}
	_, err = f.files[k].Write(data)
	return err
}

// End implements Sink.
func (f *Folder) End() error {
	var errs []error
	for k, file := range f.files {
		if file != nil {
			errs = append(errs, file.Close())
			f.files[k] = nil
		}
	}
	return errors.Join(errs...)
}

// NewFolder makes the folder.
func NewFolder(path string, index func(position int64) int64) (*Folder, error) {
	if err := os.MkdirAll(path, wholefile.FolderMode); err != nil {
		return nil, fmt.Errorf("folder for outputs: %w", err)
	}
	return &Folder{Path: path, Index: index}, nil
}

// Discard takes what tasks print and forgets it.
type Discard struct{}

// Begin implements Sink.
func (Discard) Begin(*Printed) error { return nil }

// Write implements Sink.
func (Discard) Write([]byte, bool) error { return nil }

// End implements Sink.
func (Discard) End() error { return nil }
