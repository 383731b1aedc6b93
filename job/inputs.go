package job

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unsafe"

	"dodoor/internal/cluster"
)

// MaxTasks bounds a job.
const MaxTasks = 100_000_000

// list is one source of inputs. One that is linked to the list before it takes its entries in step with that one's.
type list struct {
	entries []string
	linked  bool
}

// Inputs are lists whose entries are combined, every one of each with every one of the others; the first list changes
// slowest. The zero value has no list, and stands for one task without entries.
type Inputs struct {
	lists []list
}

// Lists is how many lists there are: as many entries has each task.
func (in *Inputs) Lists() int { return len(in.lists) }

// Add appends a list. Where says what is wrong with, for people; linked ones follow the list before them.
func (in *Inputs) Add(where string, entries []string, linked bool) error {
	switch {
	case len(entries) == 0:
		return fmt.Errorf("%s has no entries: there is nothing to run", where)
	case linked && len(in.lists) == 0:
		return fmt.Errorf("%s is linked to the list before it, and there is none", where)
	}
	for i, e := range entries {
		switch {
		case len(e) > cluster.MaxEntry:
			return fmt.Errorf("%s, entry %d has %d bytes: at most %d are allowed; put it into a file, and the file's name here",
				where, i+1, len(e), cluster.MaxEntry)
		case strings.IndexByte(e, 0) >= 0:
			return fmt.Errorf("%s, entry %d has a zero byte, which no argument can hold", where, i+1)
		}
	}
	in.lists = append(in.lists, list{entries, linked})
	if in.count() > MaxTasks {
		return fmt.Errorf("%s makes more than %d tasks: run them as several jobs", where, MaxTasks)
	}
	return nil
}

// groups calls do with the lists of every group of linked ones, first to last, and how many entries all of them have.
func (in *Inputs) groups(do func(first, end, entries int)) {
	for first := 0; first < len(in.lists); {
		end, entries := first+1, len(in.lists[first].entries)
		for ; end < len(in.lists) && in.lists[end].linked; end++ {
			entries = min(entries, len(in.lists[end].entries))
		}
		do(first, end, entries)
		first = end
	}
}

// count is how many combinations there are, or more than MaxTasks.
func (in *Inputs) count() int64 {
	count := uint64(1)
	in.groups(func(_, _, entries int) {
		if high, low := bits.Mul64(count, uint64(entries)); high > 0 || low > MaxTasks {
			count = MaxTasks + 1
		} else {
			count = low
		}
	})
	return int64(count)
}

// at is the combination of a number, from 0 on.
func (in *Inputs) at(number int64) []string {
	if len(in.lists) == 0 {
		return nil
	}
	rest := in.count()
	entries := make([]string, len(in.lists))
	in.groups(func(first, end, n int) {
		rest /= int64(n)
		k := number / rest
		number %= rest
		for l := first; l < end; l++ {
			entries[l] = in.lists[l].entries[k]
		}
	})
	return entries
}

// Lines returns the lines of a text as entries that share its bytes, so it must not change any more.
func Lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	whole := unsafe.String(&text[0], len(text))
	lines := make([]string, 0, bytes.Count(text, []byte{'\n'})+1)
	for line := range strings.Lines(whole) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}

// The words that begin a list behind a command: of arguments, or of files with an entry per line.
const (
	argumentList, fileList = ":::", "::::"
	linkedMark             = "+"
)

// Source is one list as it is written behind a command.
type Source struct {
	Word   string   // that began it
	Files  bool     // its Items are files, each with a list of its own
	Linked bool     // to the list before it
	Items  []string // what followed
}

// Split takes the lists off the end of a command.
func Split(words []string) (argv []string, sources []Source) {
	isWord := func(w string) bool {
		w = strings.TrimSuffix(w, linkedMark)
		return w == argumentList || w == fileList
	}
	end := slices.IndexFunc(words, isWord)
	if end < 0 {
		return words, nil
	}
	argv = words[:end]
	for _, w := range words[end:] {
		if isWord(w) {
			sources = append(sources, Source{Word: w, Files: strings.HasPrefix(w, fileList), Linked: strings.HasSuffix(w, linkedMark)})
			continue
		}
		last := &sources[len(sources)-1]
		last.Items = append(last.Items, w)
	}
	return argv, sources
}
