// Package wholefile writes files whole or not at all, whatever happens meanwhile: a full disk, a killed process, a
// power cut.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The modes of files and folders that hold what users submit, and get: for their owner alone.
const (
	FileMode   fs.FileMode = 0o600
	FolderMode fs.FileMode = 0o700
)

// publicMode is of files that are made to be handed on: pages of results, catalogues, traces.
const publicMode fs.FileMode = 0o644

// Write makes or replaces the file with the given text, for its owner alone.
func Write(path string, text []byte) error { return writeBy(path, FileMode, all(text)) }

// WritePublic is Write for a file that everybody may read who reaches its folder.
func WritePublic(path string, text []byte) error { return writeBy(path, publicMode, all(text)) }

func all(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// WriteBy makes or replaces the file with what write writes. An error leaves what was there. Only a process that is
// killed leaves its unfinished file behind, beside the path, and the next one overwrites that.
func WriteBy(path string, write func(io.Writer) error) error { return writeBy(path, FileMode, write) }

// ReadSecret reads a file that its owner alone may read. It fails where group or others may read or write it, where it is no regular
// file, or has more than limit bytes.
func ReadSecret(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read or written by others (%#o): chmod 600 it", path, mode)
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return text, err
}

func writeBy(path string, mode fs.FileMode, write func(io.Writer) error) error {
	partial := path + ".partial"
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if mode == FileMode {
		err = file.Chmod(mode) // an unfinished file of before has its own
	}
	if err == nil {
		err = write(file)
	}
	if err == nil {
		err = file.Sync() // before the rename, which may reach the disk before the text does
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return syncDir(filepath.Dir(path))
}

// syncDir puts the names in a directory on disk, where the file system can.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}

// WriteTo is WriteBy for a name that a person gave: what a link leads to is made or replaced, and a device or a pipe
// is written in place. Others may read it.
func WriteTo(path string, write func(io.Writer) error) error {
	target, replaceable, err := destination(path)
	if err != nil {
		return err
	}
	if !replaceable {
		file, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	return writeBy(target, publicMode, write)
}

// destination follows links and says whether what they lead to is, or will be, a regular file.
func destination(path string) (target string, replaceable bool, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Lstat(path) // a link that leads nowhere yet: opening it makes the file
		return path, err != nil, nil
	}
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", false, err
	}
	return target, info.Mode().IsRegular(), nil
}
