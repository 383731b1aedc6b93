package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"dodoor/internal/wholefile"
)

// sizes say when a folder is tidied.
type sizes struct {
	segment int64                // bytes; one that has as many is followed by another
	spare   int64                // so many bytes of what is not needed any more do not matter
	sync    func(*os.File) error // makes what was written durable, with the size of the file, which is what its text needs
}

var usual = sizes{segment: 16 << 20, spare: 32 << 20, sync: datasync}

// Journal is a folder that this process alone writes to. It is not safe for concurrent use, but for Bytes, Keys and Read.
type Journal struct {
	folder string
	lock   *os.File
	log    *slog.Logger

	sizes

	file   *os.File // the newest segment
	sum    uint32   // of its newest group
	number int64    // of the next group
	begins int64    // of the first group that is needed
	oldest *reader  // of the oldest segment, while its live values move to the newest
	text   []byte   // of the group that is written

	mu       sync.Mutex // guards what follows against Read; whoever writes alone changes it
	segments []segment  // the oldest first; the last one is written to
	places   places
	failed   error // nothing is written any more

	bytes, keys atomic.Int64 // for observers
}

// Open takes a folder, which it makes for this user alone where it does not exist, and reads what it holds. It fails when another process
// has the folder, and with [Damaged].
func Open(folder string, log *slog.Logger) (*Journal, error) {
	return open(folder, log, usual)
}

func open(folder string, log *slog.Logger, sizes sizes) (*Journal, error) {
	lock, err := take(folder, sizes.sync)
	if err != nil {
		return nil, err
	}
	j := &Journal{folder: folder, lock: lock, log: log, sizes: sizes, number: 1, begins: 1, places: newPlaces()}
	if err = j.load(); err == nil && len(j.segments) == 0 {
		err = j.extend()
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	j.publish()
	return j, nil
}

// take makes and locks a folder.
func take(folder string, sync func(*os.File) error) (*os.File, error) {
	if err := create(folder, sync); err != nil {
		return nil, fmt.Errorf("journal: %w: set scheduler.journal to a folder that this user can make", err)
	}
	lock, err := os.OpenFile(folder, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("journal: %w: set scheduler.journal to a folder of this user's", err)
	}
	if err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		err = fmt.Errorf("journal: %s is in use by another process (%w): stop that one, or give this scheduler another name or scheduler.journal",
			folder, err)
	} else if err = lock.Chmod(wholefile.FolderMode); err != nil {
		err = fmt.Errorf("journal: %w: the folder has to be this user's alone", err)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// create makes a folder where there is none, and those above it that are missing. Then all their names are durable: a crash of the machine
// would take along what is in them.
func create(folder string, sync func(*os.File) error) error {
	var above []string // of those that are missing
	for at := filepath.Clean(folder); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, os.ErrNotExist) {
			break
		}
		above = append(above, filepath.Dir(at))
	}
	if err := os.MkdirAll(folder, wholefile.FolderMode); err != nil {
		return err
	}
	for _, path := range above {
		parent, err := os.Open(path)
		if err != nil {
			return err
		}
		if err := errors.Join(sync(parent), parent.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (j *Journal) apply(kind byte, key string, at place) {
	switch kind {
	case putOne:
		j.places.put(key, at)
	case dropOne:
		j.places.drop(key)
	case dropAll:
		j.places.dropAll(key)
	}
}

// Each tells of every key and its value, in the order of their writing. A value stays valid.
func (j *Journal) Each(yield func(key string, value []byte) error) error {
	for i := range j.segments {
		s := &j.segments[i]
		r, err := read(s.path)
		for err == nil {
			var changes []byte
			if changes, err = r.next(); changes == nil {
				break
			}
			for at := r.from; len(changes) > 0 && err == nil; at = r.at - len(changes) {
				_, key, value, rest, _ := nextChange(changes)
				if key := string(key); j.places.names(key, s.number, uint32(at)) {
					err = yield(key, value)
				}
				changes = rest
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the size of the files. It may be called at any time.
func (j *Journal) Bytes() int64 { return j.bytes.Load() }

// Keys is how many there are. It may be called at any time.
func (j *Journal) Keys() int64 { return j.keys.Load() }

func (j *Journal) publish() {
	j.keys.Store(int64(j.places.count))
	j.bytes.Store(j.size())
}

func (j *Journal) size() (n int64) {
	for i := range j.segments {
		n += j.segments[i].size
	}
	return n
}

// Close lets the folder go.
func (j *Journal) Close() error {
	j.fail(errors.Join(j.failed, errClosed))
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.lock.Close())
}

// fail says why nothing is written or read any more.
func (j *Journal) fail(why error) {
	j.mu.Lock()
	j.failed = why
	j.mu.Unlock()
}

var errClosed = errors.New("it is closed")

// newSalt is what nobody who submits tasks can know.
func newSalt() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return binary.LittleEndian.Uint32(b[:])
}

func (j *Journal) pathOf(first int64) string { return filepath.Join(j.folder, nameOf(first)) }
