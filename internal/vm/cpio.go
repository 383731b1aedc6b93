package vm

import (
	"fmt"
	"io"
)

// archive writes what the kernel unpacks as its first file system: a cpio archive of the form that its documentation calls
// newc (driver-api/early-userspace/buffer-format).
type archive struct {
	to    io.Writer
	files int
	err   error
}

// The kinds of files, as in a file's mode.
const (
	kindFolder = 0o040000
	kindFile   = 0o100000
)

// trailer is the name of the last file of an archive, which is none.
const trailer = "TRAILER!!!"

// add writes one file, after the folders that it is in.
func (a *archive) add(name string, mode int, content []byte) {
	a.files++
	a.write([]byte(fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00", a.files, mode, 0, 0, 1, 0, len(content),
		0, 0, 0, 0, len(name)+1, 0, name)), headerBytes+len(name)+1)
	a.write(content, len(content))
}

// headerBytes is how long the header of a file is, without its name.
const headerBytes = 110

// write fills up to a multiple of four bytes.
func (a *archive) write(data []byte, n int) {
	for _, part := range [][]byte{data, make([]byte, -n&3)} {
		if a.err == nil {
			_, a.err = a.to.Write(part)
		}
	}
}

// end returns the first error of all.
func (a *archive) end() error {
	a.add(trailer, 0, nil)
	return a.err
}
