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
// inode that has become free. A folder serves the tasks of one user alone.
type spares struct {
	mu      sync.Mutex
	folders map[int][]string // by the number of the user
}

// named is how many names this process has given to spare folders.
var named atomic.Int64

// workFolder returns a folder for a task, which is this process's until the task is given it.
func (p *rules) workFolder() (*os.File, error) {
	if spare, found := p.spares.take(p.user.Owner()); found {
		return spare, nil
	}
	return makeWorkFolder(p.rule.Owner)
}

// take returns a folder for a user that is as good as new, if there is one.
func (s *spares) take(user int) (dir *os.File, found bool) {
	var folder string
	s.mu.Lock()
	if n := len(s.folders[user]); n > 0 {
		folder, s.folders[user] = s.folders[user][n-1], s.folders[user][:n-1]
	}
	s.mu.Unlock()
	if folder == "" {
		return nil, false
	}
	if filepath.Dir(folder) == filepath.Clean(os.TempDir()) {
		if dir, err := openFolder(folder); err == nil {
			if asNew(dir, os.Geteuid()) {
				return dir, true
			}
			dir.Close()
		}
	}
	removeWorkFolder(folder)
	return nil, false
}

// keep takes a folder back from its user and renames it, unless it shows that somebody had it: no two tasks know one name.
func (s *spares) keep(dir *os.File, user *procgroup.User, owner string) {
	if !asNew(dir, user.Owner()) || user != nil && !takenBack(dir) {
		return
	}
	name := filepath.Join(filepath.Dir(dir.Name()), fmt.Sprintf("%s%s-again%d", workFolder, owner, named.Add(1)))
	if unix.Rename(dir.Name(), name) != nil {
		return
	}
	if !isAt(dir, name) { // its user had put another there before it was taken back
		removeWorkFolder(name)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.folders[user.Owner()] = append(s.folders[user.Owner()], name)
}

// takenBack makes a folder this process's again. The user's other processes may put something in it until then.
func takenBack(dir *os.File) bool {
	return dir.Chown(os.Geteuid(), os.Getegid()) == nil && asNew(dir, os.Geteuid())
}

// isAt reports whether a path is that of a folder, and no link.
func isAt(dir *os.File, path string) bool {
	held, err := dir.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(held, there)
}

// remove removes all of them.
func (s *spares) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, folders := range s.folders {
		for _, folder := range folders {
			removeWorkFolder(folder)
		}
	}
	clear(s.folders)
}

// newFolder is the most that a folder takes where nothing was ever in it, in bytes. Many file systems never make one
// smaller again.
const newFolder = 4096

// asNew reports whether a folder is as it was when it was made: empty, for its user alone, without attributes.
func asNew(dir *os.File, owner int) bool {
	fd := int(dir.Fd())
	var info unix.Stat_t
	if unix.Fstat(fd, &info) != nil || info.Mode&0o7777 != 0o700 || int(info.Uid) != owner || info.Size > newFolder {
		return false
	}
	if attributes, _ := unix.Flistxattr(fd, nil); attributes > 0 {
		return false
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
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
