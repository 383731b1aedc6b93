package conf

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// The TOML library keeps lines to itself, so a scanner finds the line of every key. It relies on
// the library to refuse what is not TOML: on such text it may stop early, never fail.

const (
	maxNesting  = 32 // of values inside values: the library recurses on them
	maxKeyParts = 16
)

// lines says where the keys of a document are.
type lines struct {
	at      map[string]int // path to line, from 1; the first mention
	repeats []repeat
	tooDeep int // line of a value or key that nests too deeply; 0: none
}

// A repeat is a key or table that is defined a second time.
type repeat struct {
	path        string
	line, first int
}

type scanner struct {
	text    string
	pos     int
	line    int
	tables  map[string]int // elements seen of each [[list]]
	defined map[string]int // line of each key and table header
	lines   lines
}

func newScanner(text string) *scanner {
	return &scanner{text: strings.TrimPrefix(text, "\ufeff"), line: 1, tables: map[string]int{},
		defined: map[string]int{}, lines: lines{at: map[string]int{}}}
}

func scanLines(text string) lines {
	s := newScanner(text)
	table, ok := "", true
	for s.blank(); ok && s.pos < len(s.text); s.blank() {
		if s.peek() == '[' {
			table, ok = s.header()
		} else {
			ok = s.keyValue(table, 0)
		}
	}
	return s.lines
}

// header reads [a.b] or [[a.b]] and returns the path of the table that it opens.
func (s *scanner) header() (string, bool) {
	line := s.line
	s.pos++
	list := s.take("[")
	parts, ok := s.key()
	if !ok || !s.take("]") || list && !s.take("]") {
		return "", false
	}
	path := ""
	for i, part := range parts {
		path = join(path, part)
		last := i == len(parts)-1
		if last && list {
			s.record(path, line)
			s.tables[path]++
		}
		if n := s.tables[path]; n > 0 {
			path = index(path, n-1)
		}
		s.record(path, line)
	}
	s.define(path, line)
	return path, true
}

func (s *scanner) keyValue(table string, depth int) bool {
	line := s.line
	parts, ok := s.key()
	if !ok || !s.take("=") {
		return false
	}
	path := table
	for _, part := range parts {
		path = join(path, part)
		s.record(path, line)
	}
	s.define(path, line)
	return s.value(path, depth)
}

// key reads a dotted key.
func (s *scanner) key() ([]string, bool) {
	var parts []string
	for {
		s.space()
		part, ok := s.keyPart()
		if !ok {
			return nil, false
		}
		if parts = append(parts, part); len(parts) > maxKeyParts {
			s.lines.tooDeep = s.line
			return nil, false
		}
		s.space()
		if !s.take(".") {
			return parts, true
		}
	}
}

func (s *scanner) keyPart() (string, bool) {
	start := s.pos
	switch s.peek() {
	case '"':
		ok := s.quoted()
		return unescape(s.text[start:s.pos]), ok
	case '\'':
		if !s.quoted() {
			return "", false
		}
		return s.text[start+1 : s.pos-1], true
	}
	for isBare(s.peek()) {
		s.pos++
	}
	return s.text[start:s.pos], s.pos > start
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func unescape(quoted string) string {
	var doc struct{ K string }
	if _, err := toml.Decode("K = "+quoted, &doc); err != nil {
		return quoted // the library refuses the document for it
	}
	return doc.K
}

func (s *scanner) record(path string, line int) {
	if _, ok := s.lines.at[path]; !ok {
		s.lines.at[path] = line
	}
}

func (s *scanner) define(path string, line int) {
	if first, ok := s.defined[path]; ok {
		s.lines.repeats = append(s.lines.repeats, repeat{path, line, first})
		return
	}
	s.defined[path] = line
}
