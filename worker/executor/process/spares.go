package process

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"dodoor/internal/procgroup"
)

// spares are the folders of tasks that nothing is left of, in nobody's use, for tasks to come. Most tasks leave a folder
// as they found it, and to make one can take longer than the task where many were removed of late: ext4 then looks at each
// inode that has become free.
type spares struct {
	user    *procgroup.User // whose they are
	mu      sync.Mutex
	folders []string
}

// named is how many names this process has given to spare folders.
var named atomic.Int64

// workFolder returns a folder for a task.
func (p *Executor) workFolder() (string, error) {
	if spare, found := p.spares.take(); found {
		return spare, nil
	}
	return makeWorkFolder(p.rule.Owner, p.cfg.User)
}

// take returns a folder that is as good as new, if there is one.
func (s *spares) take() (folder string, found bool) {
	s.mu.Lock()
	if n := len(s.folders); n > 0 {
		folder, s.folders = s.folders[n-1], s.folders[:n-1]
	}
	s.mu.Unlock()
	switch {
	case folder == "":
		return "", false
	case filepath.Dir(folder) == filepath.Clean(os.TempDir()) && s.asNew(folder):
		return folder, true
	}
	removeWorkFolder(folder)
	return "", false
}

// keep renames a folder, unless it shows that somebody had it: no two tasks know one name.
func (s *spares) keep(folder, owner string) {
	if !s.asNew(folder) {
		return
	}
	name := filepath.Join(filepath.Dir(folder), fmt.Sprintf("%s%s-again%d", workFolder, owner, named.Add(1)))
	if unix.Rename(folder, name) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders = append(s.folders, name)
}

// remove removes all of them.
func (s *spares) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, folder := range s.folders {
		removeWorkFolder(folder)
	}
	s.folders = nil
}

// newFolder is the most that a folder takes where nothing was ever in it, in bytes. Many file systems never make one
// smaller again.
const newFolder = 4096

// asNew reports whether a folder is as it was when it was made: empty, for its user alone, without attributes.
func (s *spares) asNew(folder string) bool {
	fd, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var info unix.Stat_t
	if unix.Fstat(fd, &info) != nil || info.Mode&0o7777 != 0o700 || int(info.Uid) != s.user.Owner() || info.Size > newFolder {
		return false
	}
	if attributes, _ := unix.Flistxattr(fd, nil); attributes > 0 {
		return false
	}
	buffer := make([]byte, newFolder)
	for {
		n, err := unix.ReadDirent(fd, buffer)
		if err != nil {
			return false
		}
		if n == 0 {
			return true
		}
		if _, entries, _ := unix.ParseDirent(buffer[:n], 1, nil); entries > 0 {
			return false
		}
	}
}
