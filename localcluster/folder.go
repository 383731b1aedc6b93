package localcluster

import (
	"os"
	"path/filepath"
	"strings"

	"dodoor/internal/procfs"
)

// The folder of a cluster for one command is dodoor-run-<owner>-<random>, among the temporary files.
const (
	ownFolder = "dodoor-run-"
	ownName   = "own"
)

// MakeFolder makes a folder for Own, for this user alone. Whoever asks for it removes it.
func MakeFolder() (string, error) {
	owner, err := procfs.OwnerName(ownName)
	if err != nil {
		return "", err
	}
	return os.MkdirTemp("", ownFolder+owner+"-*")
}

// ownerOfFolder is empty for what MakeFolder did not make.
func ownerOfFolder(name string) string {
	rest, ours := strings.CutPrefix(name, ownFolder)
	end := strings.LastIndex(rest, "-")
	if !ours || end < 0 {
		return ""
	}
	return rest[:end]
}

// SweepFolders removes the folders of processes that were killed before they could.
func SweepFolders() {
	for _, name := range procfs.Orphans(os.TempDir(), ownName, ownerOfFolder) {
		_ = os.RemoveAll(filepath.Join(os.TempDir(), name)) // another user's stays
	}
}
