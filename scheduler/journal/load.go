package journal

import (
	"fmt"
	"os"
)

// load finds the place of every key, and opens the newest segment. What an earlier process wrote may be in memory alone: it is durable
// before anybody goes by it.
func (j *Journal) load() (err error) {
	if j.segments, err = segments(j.folder); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for i := range j.segments {
		j.segments[i].number = uint32(i)
		if err := j.loadSegment(i); err != nil {
			return err
		}
	}
	if err := j.whole(); err != nil {
		return err
	}
	if last := len(j.segments) - 1; last >= 0 {
		path := j.segments[last].path
		if j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			err = j.sync(j.file)
		}
	}
	if err == nil {
		err = j.sync(j.lock)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

// whole fails when the oldest segment that is needed has gone.
func (j *Journal) whole() error {
	if len(j.segments) == 0 || firstOf(j.segments[0].path) <= j.begins {
		return nil
	}
	return &Damaged{j.segments[0].path, 0,
		fmt.Sprintf("it is the oldest file, and group %d, which is before it, is needed: a file is missing", j.begins)}
}

func (j *Journal) loadSegment(i int) error {
	s, newest := &j.segments[i], i == len(j.segments)-1
	r, err := read(s.path)
	if _, unfinished := err.(torn); unfinished {
		return j.unbegun(s, newest)
	}
	if err != nil {
		return err
	}
	if i > 0 && r.number != j.number {
		return r.damaged(fmt.Sprintf("it begins with group %d where %d has to follow: a file is missing, or cut short", r.number, j.number))
	}
	for {
		begin := r.at
		changes, err := r.next()
		if t, unfinished := err.(torn); unfinished {
			if !newest {
				return r.damaged("it is shorter than what was written")
			}
			j.log.Warn("the journal ends in a group that was not finished, and which nobody relies on: dropped",
				"file", s.path, "offset", t.at, "bytes", int64(len(r.text))-t.at)
			if err := os.Truncate(s.path, t.at); err != nil {
				return fmt.Errorf("journal: %w", err)
			}
			break
		}
		if err != nil {
			return err
		}
		if changes == nil {
			break
		}
		if !j.index(s, r.from, changes) {
			return r.damaged("its changes make no sense, although they are as they were written: by another version?")
		}
		s.groups = append(s.groups, uint32(begin))
	}
	s.size, s.salt = int64(r.at), r.salt
	j.number, j.sum = r.number, r.sum
	return nil
}

// aside ends the name of a segment that was not begun: whoever finds data missing can look at it.
const aside = ".unfinished"

// unbegun puts aside a segment without a whole header: the newest one, if it is where the next group belongs.
func (j *Journal) unbegun(s *segment, newest bool) error {
	if !newest || firstOf(s.path) != j.number {
		return &Damaged{s.path, 0, "it is shorter than what was written, or a file before it is missing"}
	}
	j.log.Warn("the journal ends in a file that was not begun, and which nobody relies on: put aside", "file", s.path, "as", s.path+aside)
	if err := os.Rename(s.path, s.path+aside); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.segments = j.segments[:len(j.segments)-1]
	return nil
}

// index takes the changes of a group, which begin at an offset of a segment.
func (j *Journal) index(s *segment, at int, changes []byte) bool {
	for len(changes) > 0 {
		kind, key, _, rest, ok := nextChange(changes)
		if ok && kind == begins {
			j.begins, ok = numberOf(key)
		}
		if !ok {
			return false
		}
		change := changes[:len(changes)-len(rest)]
		j.apply(kind, string(key), placeOf(s, at, change))
		at, changes = at+len(change), rest
	}
	return true
}
