package procfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// ReadFile reads a file that the kernel makes up, in /proc or of a control group. Go's own takes three times the calls,
// since it prepares to wait for more.
func ReadFile(path string) ([]byte, error) {
	fd, err := Open(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 0, 512)
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := unix.Read(fd, text[len(text):cap(text)])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		case n == 0:
			return text, nil
		default:
			text = text[:len(text)+n]
		}
	}
}

// Open opens such a file. No program inherits it.
func Open(path string, flags int) (fd int, err error) {
	for {
		if fd, err = unix.Open(path, flags|unix.O_CLOEXEC, 0); err == nil {
			return fd, nil
		}
		if err != unix.EINTR {
			return -1, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// Write writes to such a file, which takes a value at once or not at all.
func Write(fd int, path, value string) error {
	for {
		_, err := unix.Write(fd, []byte(value))
		switch {
		case err == nil:
			return nil
		case err != unix.EINTR:
			return &fs.PathError{Op: "write", Path: path, Err: err}
		}
	}
}
