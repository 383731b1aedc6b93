package journal

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"dodoor/internal/wholefile"
	"dodoor/scheduler"
)

// Write makes a group of changes durable: all of them, or, if it fails, it is unknown whether all or none. After a failure nothing more is
// written, for nobody knows what the disk has: the process has to end, and another one to open the folder. No change is no group.
func (j *Journal) Write(changes []scheduler.Change) error {
	if j.failed != nil {
		return fmt.Errorf("journal %s: %w", j.folder, j.failed)
	}
	if len(changes) == 0 {
		return nil
	}
	if err := j.write(changes); err != nil {
		j.fail(fmt.Errorf("cannot be written: %w. See to the disk (df, dmesg) and start the scheduler again: "+
			"what it has acknowledged is there", err))
		return fmt.Errorf("journal %s %w", j.folder, j.failed)
	}
	j.publish()
	return nil
}

func (j *Journal) write(changes []scheduler.Change) error {
	if j.newest().size >= j.segment {
		if err := j.extend(); err != nil {
			return err
		}
	}
	if err := j.tidies(); err != nil {
		return err
	}
	moved, err := j.append(changes)
	if err != nil {
		return err
	}
	if err := j.sync(j.file); err != nil {
		return err
	}
	if cap(j.text) > mostText {
		j.text = nil
	}
	if moved {
		return j.removeOldest() // the group says that it may go
	}
	return nil
}

// append writes a group. Until it is done nobody goes by the places of its values.
func (j *Journal) append(changes []scheduler.Change) (moved bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer func() {
		if err != nil && j.failed == nil {
			j.failed = err // before anybody reads where nothing was written
		}
	}()
	if cap(j.text) < headSize {
		j.text = make([]byte, headSize, 1<<16)
	}
	j.text = j.text[:headSize]
	s := j.newest()
	add := func(kind byte, key string, value []byte) {
		before := len(j.text)
		j.text = appendChange(j.text, kind, key, value)
		j.apply(kind, key, placeOf(s, int(s.size)+before, j.text[before:]))
	}
	for i := range changes {
		switch c := &changes[i]; {
		case c.Value != nil:
			add(putOne, c.Key, c.Value)
		case c.All:
			add(dropAll, c.Key, nil)
		default:
			add(dropOne, c.Key, nil)
		}
	}
	if moved, err = j.move(add); err != nil {
		return false, err
	}
	if moved {
		j.begins = firstOf(j.segments[1].path)
		add(begins, keyOf(j.begins), nil)
	}
	if len(j.text) > maxGroup {
		return false, fmt.Errorf("a group of %d bytes: at most %d", len(j.text), maxGroup)
	}
	mask(j.text[headSize:], s.salt, j.number)
	sum := seal(j.text, j.number, s.salt, j.sum)
	if _, err := j.file.Write(j.text); err != nil {
		return false, err
	}
	s.groups = append(s.groups, uint32(s.size))
	s.size += int64(len(j.text))
	j.sum, j.number = sum, j.number+1
	return moved, nil
}

// mostText is how large a buffer is kept.
const mostText = 4 << 20

func datasync(file *os.File) error {
	for {
		if err := syscall.Fdatasync(int(file.Fd())); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func (j *Journal) newest() *segment { return &j.segments[len(j.segments)-1] }

// extend begins a segment.
func (j *Journal) extend() error {
	path, salt := j.pathOf(j.number), newSalt()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, wholefile.FileMode)
	if err != nil {
		return err
	}
	header, sum := newHeader(j.number, salt)
	_, err = file.Write(header)
	if err == nil {
		err = j.sync(file)
	}
	if err == nil {
		err = j.sync(j.lock) // the folder: the name is there as well
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if j.file != nil {
		err = j.file.Close()
	}
	s := segment{path: path, size: int64(len(header)), salt: salt}
	if len(j.segments) > 0 {
		s.number = j.newest().number + 1
	}
	j.mu.Lock()
	j.segments = append(j.segments, s)
	j.mu.Unlock()
	j.file, j.sum = file, sum
	return err
}

// tidies opens the oldest segment, so that it goes, when less than half of the folder is needed.
func (j *Journal) tidies() (err error) {
	if j.oldest == nil && len(j.segments) > 1 && j.size() >= 2*j.places.live+j.spare {
		j.oldest, err = read(j.segments[0].path)
	}
	return err
}

// move takes live values of the oldest segment along, if that is to go: twice the bytes of the group, so that the folder shrinks faster
// than it grows. It reports whether the oldest segment holds none any more.
func (j *Journal) move(add func(kind byte, key string, value []byte)) (all bool, err error) {
	if j.oldest == nil {
		return false, nil
	}
	for most, from := 3*len(j.text), j.oldest.at; len(j.text) < most && j.oldest.at-from < moveBytes; {
		changes, err := j.oldest.next()
		if err != nil {
			return false, err
		}
		if changes == nil {
			return true, nil
		}
		for at := j.oldest.from; len(changes) > 0; at = j.oldest.at - len(changes) {
			_, key, value, rest, _ := nextChange(changes)
			if key := string(key); j.places.names(key, j.segments[0].number, uint32(at)) {
				add(putOne, key, value)
			}
			changes = rest
		}
	}
	return false, nil
}

// moveBytes is how much of the oldest segment one group looks through.
const moveBytes = 1 << 20

// removeOldest removes a segment of which everything that is needed stands in later ones. What it says of keys that have gone need not be
// said any more: there is no older one.
func (j *Journal) removeOldest() error {
	path := j.segments[0].path
	j.mu.Lock()
	j.oldest, j.segments = nil, append(j.segments[:0], j.segments[1:]...)
	j.mu.Unlock()
	if err := os.Remove(path); err != nil {
		return err
	}
	return j.sync(j.lock) // before the next one goes: none is missing in between
}
