package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"slices"
)

// placeOf is the place of a change, as it is without its mask, at an offset of a segment.
func placeOf(s *segment, at int, change []byte) place {
	return place{s.number, uint32(at), uint32(len(change)), crc32.Checksum(change, castagnoli)}
}

// Read tells of each of these keys its newest value, nil where there is none, or why it cannot be had: [Damaged]. It fails when nothing can
// be read now: then it tells of none, or not of all. It may be called at any time, also while a group is written or a segment goes.
func (j *Journal) Read(keys []string, tell func(key string, value []byte, damage error)) error {
	wanted, err := j.find(keys)
	defer wanted.close()
	if err != nil {
		return fmt.Errorf("journal %s: %w", j.folder, err)
	}
	for i, key := range keys {
		w := &wanted.values[i]
		if w.size == 0 {
			tell(key, nil, nil)
			continue
		}
		value, what := w.read(key)
		if what != "" {
			tell(key, nil, &Damaged{w.segment.path, int64(w.at), what})
			continue
		}
		tell(key, value, nil)
	}
	return nil
}

// wanted is where some values stand, and the files, which stay readable when their segments go.
type wanted struct {
	values []standing
	files  map[uint32]*os.File
}

// standing is the place of a value, and what it takes to read it; of size 0: there is none.
type standing struct {
	place
	segment segment
	file    *os.File // nil: it has gone
	group   int64
	behind  int // bytes of changes that stand before it in its group
}

func (w *wanted) close() {
	for _, file := range w.files {
		_ = file.Close() // it was read alone
	}
}

func (j *Journal) find(keys []string) (w wanted, err error) {
	w = wanted{values: make([]standing, len(keys)), files: map[uint32]*os.File{}}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		return w, j.failed
	}
	for i, key := range keys {
		at, known := j.places.of(key)[key]
		if !known {
			continue
		}
		s := j.segments[at.segment-j.segments[0].number]
		file, opened := w.files[at.segment]
		if !opened {
			file, err = os.Open(s.path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return w, err
			}
			if err == nil {
				w.files[at.segment] = file
			}
		}
		group, _ := slices.BinarySearch(s.groups, at.at) // the one behind
		w.values[i] = standing{place: at, segment: s, file: file, group: firstOf(s.path) + int64(group) - 1,
			behind: int(at.at-s.groups[group-1]) - headSize}
	}
	return w, nil
}

// read returns the value, or what is wrong with it.
func (w *standing) read(key string) (value []byte, what string) {
	if w.file == nil {
		return nil, "the file has gone"
	}
	skipped := w.behind % maskBlock
	change := make([]byte, skipped+int(w.size))
	if _, err := w.file.ReadAt(change, int64(w.at)-int64(skipped)); err != nil {
		return nil, fmt.Sprintf("%d bytes cannot be read: %v", w.size, err)
	}
	maskBehind(change, w.segment.salt, w.group, w.behind/maskBlock)
	change = change[skipped:]
	kind, named, value, _, ok := nextChange(change)
	if crc32.Checksum(change, castagnoli) != w.sum || !ok || kind != putOne || string(named) != key {
		return nil, "a value is not what was written"
	}
	return value, ""
}
