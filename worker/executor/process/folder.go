package process

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"dodoor/internal/procfs"
)

// The folder that a task works in is dodoor-<worker>.<pid>.<start>-<random>, among the temporary files.
const workFolder = "dodoor-"

// makeWorkFolder makes a folder that is this process's alone, and a task's once it is given that. Until then nobody else puts
// anything in it. It is open because a user who may write beside it may exchange what is at its path once it is given.
func makeWorkFolder(owner string) (*os.File, error) {
	folder, err := os.MkdirTemp("", workFolder+owner+"-*") // for one user alone
	if err != nil {
		return nil, err
	}
	dir, err := openFolder(folder)
	if err != nil {
		return nil, err
	}
	if !belongs(dir, os.Geteuid()) {
		dir.Close()
		return nil, fmt.Errorf("%s was exchanged: others may rename what is in %s, which needs mode 1777", folder, os.TempDir())
	}
	return dir, nil
}

// openFolder opens a folder, but none that a link leads to.
func openFolder(path string) (*os.File, error) {
	return os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// belongs reports whether a file or folder is a user's.
func belongs(file *os.File, uid int) bool {
	var info unix.Stat_t
	return unix.Fstat(int(file.Fd()), &info) == nil && int(info.Uid) == uid
}

// create makes a file in a folder.
func create(dir *os.File, name string) (*os.File, error) {
	path := filepath.Join(dir.Name(), name)
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// ownerOfFolder is empty for what is no folder of a task.
func ownerOfFolder(name string) string {
	rest, ours := strings.CutPrefix(name, workFolder)
	end := strings.LastIndex(rest, "-")
	if !ours || end < 0 {
		return ""
	}
	return rest[:end]
}

// removeWorkFolder removes a folder, even if the task took away the right to. Root has it all the same, and must not change
// modes by paths in a folder where others may exchange what is there.
func removeWorkFolder(folder string) {
	if os.RemoveAll(folder) == nil || os.Geteuid() == 0 {
		return
	}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(folder) // what stays is swept when the worker starts again
}

// sweepWorkFolders removes the folders of tasks whose worker has died, and returns how many there were. Those of anybody but
// this process's user and the tasks' are somebody's who took the name, unless tasks are Anybody's.
func sweepWorkFolders(worker string, tasks int) (swept int) {
	for _, name := range procfs.Orphans(os.TempDir(), worker, ownerOfFolder) {
		folder := filepath.Join(os.TempDir(), name)
		var info unix.Stat_t
		if unix.Lstat(folder, &info) == nil && (int(info.Uid) == os.Geteuid() || int(info.Uid) == tasks || tasks == Anybody) {
			removeWorkFolder(folder)
			swept++
		}
	}
	return swept
}
