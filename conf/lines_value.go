package conf

import "strings"

// value skips one value and records the lines of the keys and elements inside it.
func (s *scanner) value(path string, depth int) bool {
	s.space()
	if depth > maxNesting {
		s.lines.tooDeep = s.line
		return false
	}
	switch s.peek() {
	case '"', '\'':
		return s.multiline() || s.quoted()
	case '[':
		return s.list(path, depth)
	case '{':
		return s.inlineTable(path, depth)
	}
	start := s.pos
	for s.pos < len(s.text) && strings.IndexByte(",]}#\n", s.text[s.pos]) < 0 {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) list(path string, depth int) bool {
	s.pos++
	for i := 0; ; i++ {
		if s.blank(); s.take("]") {
			return true
		}
		element := index(path, i)
		s.record(element, s.line)
		if !s.value(element, depth+1) {
			return false
		}
		if s.blank(); !s.take(",") {
			return s.take("]")
		}
	}
}

func (s *scanner) inlineTable(path string, depth int) bool {
	s.pos++
	for {
		if s.blank(); s.take("}") {
			return true
		}
		if !s.keyValue(path, depth+1) {
			return false
		}
		if s.blank(); !s.take(",") {
			return s.take("}")
		}
	}
}

// multiline skips a string in three quotes, if one starts here.
func (s *scanner) multiline() bool {
	quote := strings.Repeat(string(s.peek()), 3)
	if !s.take(quote) {
		return false
	}
	for s.pos < len(s.text) {
		switch {
		case s.take(quote):
			for range 2 { // the string itself may end in one or two quotes
				s.take(quote[:1])
			}
			return true
		case quote[0] == '"' && s.peek() == '\\':
			s.next()
		}
		s.next()
	}
	return true // not closed: the end of the text ends the scan as well
}

// quoted skips a string in single or double quotes, on one line.
func (s *scanner) quoted() bool {
	quote := s.peek()
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case quote:
			s.pos++
			return true
		case '\n':
			return false
		case '\\':
			if quote == '"' && s.pos+1 < len(s.text) && s.text[s.pos+1] != '\n' {
				s.pos++
			}
		}
	}
	return false
}

// peek returns the byte at the current place, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// next steps over one byte, if there is one, and counts lines.
func (s *scanner) next() {
	if s.peek() == '\n' {
		s.line++
	}
	s.pos = min(s.pos+1, len(s.text))
}

// take steps over what if it is next; what holds no newline.
func (s *scanner) take(what string) bool {
	if strings.HasPrefix(s.text[s.pos:], what) {
		s.pos += len(what)
		return true
	}
	return false
}

// space skips blanks on one line; blank skips lines and comments too.
func (s *scanner) space() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.pos++
	}
}

func (s *scanner) blank() {
	for s.pos < len(s.text) {
		switch s.peek() {
		case ' ', '\t', '\r', '\n':
			s.next()
		case '#':
			for s.pos < len(s.text) && s.peek() != '\n' {
				s.pos++
			}
		default:
			return
		}
	}
}
