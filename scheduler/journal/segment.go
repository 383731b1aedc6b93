package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ending is that of the names of segments.
const ending = ".journal"

// segment is one file.
type segment struct {
	path   string
	number uint32 // in this process: one more than that of the segment before it
	size   int64
	salt   uint32
	groups []uint32 // where each of its groups begins
}

func nameOf(first int64) string { return fmt.Sprintf("%016x%s", first, ending) }

// firstOf is the inverse of nameOf, for the path of a segment.
func firstOf(path string) int64 {
	first, _ := strconv.ParseInt(strings.TrimSuffix(filepath.Base(path), ending), 16, 64) // segments lists no other
	return first
}

// segments lists the files of a folder, the oldest first. Other files stay as they are.
func segments(folder string) ([]segment, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []segment
	for _, e := range entries {
		number, ours := strings.CutSuffix(e.Name(), ending)
		if _, err := strconv.ParseInt(number, 16, 64); !ours || err != nil || len(number) != 16 {
			continue
		}
		list = append(list, segment{path: filepath.Join(folder, e.Name())})
	}
	slices.SortFunc(list, func(a, b segment) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// Damaged is what Open and Write say of a file that is not as it was written.
type Damaged struct {
	Path   string
	Offset int64
	What   string
}

func (d *Damaged) Error() string {
	return fmt.Sprintf("journal %s is damaged at byte %d: %s. Check the disk; then give up what stands in it: move the folder %s away and "+
		"start again (workers go on with what they hold, their results are lost). An older copy would run again what has ended since, and "+
		"have clients miss results", d.Path, d.Offset, d.What, filepath.Dir(d.Path))
}

// reader goes through the groups of one segment, whose text it holds.
type reader struct {
	path string
	text []byte
	at   int
	from int // where the changes begin that next has returned
	salt uint32

	number int64 // of the next group
	sum    uint32
}

// torn is a segment's end that was being written when the process or the machine stopped.
type torn struct{ at int64 }

func (torn) Error() string { return "unfinished" }

// read opens a segment. It fails with torn where not even the header is whole.
func read(path string) (*reader, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path, text: text}
	first, salt, sum, ok := parseHeader(text)
	switch {
	case len(text) < headerSize, len(text) == headerSize && bytes.Equal(text, zeros[:headerSize]):
		return nil, torn{}
	case !ok:
		return nil, r.damaged("its header is not what was written")
	case nameOf(first) != filepath.Base(path):
		return nil, r.damaged(fmt.Sprintf("it begins with group %d, which does not fit its name", first))
	}
	r.at, r.salt, r.number, r.sum = headerSize, salt, first, sum
	return r, nil
}

// next returns the changes of the next group, nil behind the last one. It fails with torn when what follows can be what a crash
// left of the last write.
func (r *reader) next() ([]byte, error) {
	rest := r.text[r.at:]
	if len(rest) == 0 {
		return nil, nil
	}
	f, ok := parseHead(rest, r.salt)
	if ok && f.number == r.number && len(rest) >= headSize+f.length {
		changes := rest[headSize : headSize+f.length : headSize+f.length]
		if f.sum == sumOf(rest[:headSize], changes, r.sum) {
			mask(changes, r.salt, f.number)
			r.from, r.at, r.number, r.sum = r.at+headSize, r.at+headSize+f.length, r.number+1, f.sum
			return changes, nil
		}
	}
	switch {
	case ok && f.number != r.number:
		return nil, r.damaged(fmt.Sprintf("group %d follows where %d was written", f.number, r.number))
	case !ok && len(rest) < headSize, ok && len(rest) < headSize+f.length, hasHole(r.text, r.at) && !r.followed():
		return nil, torn{int64(r.at)}
	case ok:
		return nil, r.damaged(fmt.Sprintf("the changes of group %d are not what was written", r.number))
	}
	return nil, r.damaged(fmt.Sprintf("the head of group %d is not what was written", r.number))
}

// followed says whether a later group stands behind the next one: then that had been durable.
func (r *reader) followed() bool {
	var start [4]byte
	binary.LittleEndian.PutUint32(start[:], magic)
	for at := r.at + 1; ; at++ {
		i := bytes.Index(r.text[at:], start[:])
		if i < 0 {
			return false
		}
		at += i
		if f, ok := parseHead(r.text[at:], r.salt); ok && f.number > r.number {
			return true
		}
	}
}

// A hole is a sector, which a disk writes as a whole, that holds zeros alone; shorter pieces at the ends could be so by chance.
const (
	sector    = 512
	holeBytes = 64
)

var zeros [sector]byte

// hasHole says whether a sector behind an offset has never reached the disk: a file system may have made the file longer first.
func hasHole(text []byte, from int) bool {
	for from < len(text) {
		end := min(from-from%sector+sector, len(text))
		if end-from >= holeBytes && bytes.Equal(text[from:end], zeros[:end-from]) {
			return true
		}
		from = end
	}
	return false
}

func (r *reader) damaged(what string) error { return &Damaged{r.path, int64(r.at), what} }
