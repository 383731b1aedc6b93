package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ours fails for a folder that somebody else has made, or could read: everybody may make one among the temporary files.
func ours(folder *os.File) error {
	info, err := folder.Stat()
	if err != nil {
		return err
	}
	owner, _ := info.Sys().(*syscall.Stat_t)
	if owner == nil || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return notOurs(folder.Name())
	}
	return nil
}

func notOurs(folder string) error {
	return fmt.Errorf("%s is no folder for this user alone (mode 0700): remove it, or set worker.spool to another", folder)
}

// open makes the folder where it does not exist and takes it: no other process writes there meanwhile. Whose it is, it asks
// the folder that it holds: among the temporary files somebody else may have been first.
func (s *Spool) open() (err error) {
	if s.lock != nil {
		return nil
	}
	flags := os.O_RDONLY | syscall.O_DIRECTORY
	if s.private {
		flags |= syscall.O_NOFOLLOW
		_ = os.Mkdir(s.cfg.Folder, 0o700) // it is there, or cannot be opened
	} else if err := os.MkdirAll(s.cfg.Folder, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(s.cfg.Folder, flags, 0)
	if s.private && (errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)) {
		return notOurs(s.cfg.Folder)
	}
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("%s is in use by another worker: set worker.spool to another folder (%w)", s.cfg.Folder, err), lock.Close())
	}
	if s.private {
		err = ours(lock)
	}
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	s.lock = lock
	return nil
}

// create makes the file of a stream.
func (s *Spool) create(a *attempt, stream int) (path string, file *os.File, err error) {
	if err := s.open(); err != nil {
		return "", nil, err
	}
	path = s.path(a, endings[stream])
	for range 2 { // somebody may remove the empty folder in between
		if file, err = newFile(path); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", nil, err
		}
	}
	if err == nil && s.cfg.Give != nil {
		if err = s.cfg.Give(a.user, file); err != nil {
			return "", nil, errors.Join(err, file.Close(), os.Remove(path))
		}
	}
	return path, file, err
}

// newFile makes a file. What was there of its name is removed, not written to, wherever it may lead.
func newFile(path string) (*os.File, error) {
	_ = os.Remove(path)
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (s *Spool) path(a *attempt, ending string) string {
	return filepath.Join(s.cfg.Folder, stem(a.user, a.job, a.task, a.number)+ending)
}

// erase removes the files of an attempt, and the folders that are empty then.
func (s *Spool) erase(a *attempt) {
	s.bytes -= a.cost()
	a.erased = true
	if a.cost() == 0 {
		return
	}
	other := s.again(a)
	for i := range a.streams {
		if path := a.streams[i].file; path != "" && path != other.streams[i].file {
			_ = os.Remove(path) // what stays is found again when the worker starts
		}
	}
	if a.lost() && !other.ended {
		_ = os.Remove(s.path(a, lossEnding))
	}
	for folder := filepath.Dir(s.path(a, "")); folder != filepath.Clean(s.cfg.Folder); folder = filepath.Dir(folder) {
		if os.Remove(folder) != nil {
			return
		}
	}
}

// again returns the attempt that was begun once more after a doomed one, under its name; one without files if there is none.
func (s *Spool) again(a *attempt) *attempt {
	for at := s.newest[a.task]; at != nil; at = at.older {
		if at.number == a.number && at.job == a.job && at.user == a.user {
			return at
		}
	}
	return &attempt{}
}

func (a *attempt) lost() bool { return a.streams[0].loss+a.streams[1].loss != "" }

// noteLoss writes down what was not kept of an attempt, for later processes: a line per stream.
func (s *Spool) noteLoss(a *attempt) error {
	if a.gone || a.cost() == 0 || !a.lost() {
		return nil
	}
	file, err := newFile(s.path(a, lossEnding))
	if err != nil {
		return err
	}
	for i := range a.streams {
		_, noted := fmt.Fprintf(file, "%d %s\n", a.streams[i].printed, a.streams[i].loss)
		err = errors.Join(err, noted)
	}
	return errors.Join(err, file.Close())
}

// endedMode is that of the files of an attempt that ended while its worker lived.
const endedMode = 0o400

// diedFirst is why there may be more of an attempt than an earlier process has kept.
const diedFirst = "the worker ended before the task did"

// readLoss is the inverse of noteLoss.
func (a *attempt) readLoss(path string) {
	text, _ := os.ReadFile(path)
	for i, line := range strings.Split(string(text), "\n") {
		printed, loss, found := strings.Cut(line, " ")
		if n, err := strconv.ParseInt(printed, 10, 64); found && err == nil && i < len(a.streams) {
			a.streams[i].printed, a.streams[i].loss = max(n, a.streams[i].kept), loss
		}
	}
}

// rebuild finds what earlier processes of the worker have kept: all of it has ended. Other files stay as they are.
func (s *Spool) rebuild() error {
	type key struct {
		user, task string
		number     int
	}
	found, since, losses := map[key]*attempt{}, map[*attempt]time.Time{}, map[*attempt]string{}
	err := filepath.WalkDir(s.cfg.Folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		below, _ := filepath.Rel(s.cfg.Folder, path)
		user, job, task, number, ending, ok := parse(below)
		which := slices.Index(endings[:], ending)
		info, err := entry.Info()
		if !ok || err != nil || which < 0 && ending != lossEnding {
			return nil
		}
		a := found[key{user, task, number}]
		if a == nil {
			a = &attempt{user: user, job: job, task: task, number: number, ended: true}
			found[key{user, task, number}] = a
		}
		switch {
		case a.job != job: // there is one of the same name: this file is of no use
			return os.Remove(path)
		case which < 0:
			losses[a] = path
		default:
			a.streams[which].file, a.streams[which].kept, a.streams[which].printed = path, info.Size(), info.Size()
			if info.Mode().Perm() != endedMode {
				a.streams[0].loss, a.streams[1].loss = diedFirst, diedFirst
			}
			if info.ModTime().After(since[a]) {
				since[a] = info.ModTime()
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	all := make([]*attempt, 0, len(found))
	for _, a := range found {
		switch path := losses[a]; {
		case path != "" && a.cost() == 0:
			_ = os.Remove(path) // of what is gone
			continue
		case path != "":
			a.readLoss(path)
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *attempt) int { return since[a].Compare(since[b]) })
	for _, a := range all {
		s.insert(a)
		s.bytes += a.cost()
		s.finish(a)
	}
	s.makeRoom(0)
	return nil
}
