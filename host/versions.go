package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Versions prints which binary and which configuration are in a folder, and of which version what runs there is. It asks
// neither of them: they may be of another time than what runs, or half there.
func Versions(f Folder, out io.Writer) error {
	for _, file := range []struct{ what, path string }{{"binary", f.Binary()}, {"configuration", f.Configuration()}} {
		sum, err := checksum(file.path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			sum = "none"
		case err != nil:
			return err
		default:
			sum = sum[:versionDigits]
		}
		fmt.Fprintln(out, file.what, sum)
	}
	names, err := f.noted()
	if err != nil {
		return err
	}
	for _, name := range names {
		s, err := f.StateOf(name)
		if err != nil {
			return err
		}
		if s.Running {
			fmt.Fprintln(out, "runs", s.Service, s.Version)
		}
	}
	return nil
}

// noted lists the services that were ever started in the folder.
func (f Folder) noted() (names []string, err error) {
	notes, err := filepath.Glob(f.note("*"))
	for _, note := range notes {
		if name := strings.TrimSuffix(filepath.Base(note), filepath.Ext(note)); name != answering {
			names = append(names, name)
		}
	}
	return names, err
}
