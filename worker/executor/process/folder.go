package process

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dodoor/internal/procfs"
	"dodoor/internal/procgroup"
)

// The folder that a task works in is dodoor-<worker>.<pid>.<start>-<random>, among the temporary files.
const workFolder = "dodoor-"

func makeWorkFolder(owner string, user *procgroup.User) (string, error) {
	folder, err := os.MkdirTemp("", workFolder+owner+"-*") // for one user alone
	if err == nil {
		err = user.Give(folder)
	}
	return folder, err
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

// removeWorkFolder removes a folder, even if the task took away the right to.
func removeWorkFolder(folder string) {
	if os.RemoveAll(folder) == nil {
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

// sweepWorkFolders removes the folders of tasks whose worker has died, and returns how many there were.
func sweepWorkFolders(worker string) int {
	names := procfs.Orphans(os.TempDir(), worker, ownerOfFolder)
	for _, name := range names {
		removeWorkFolder(filepath.Join(os.TempDir(), name))
	}
	return len(names)
}
