package generator

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine bounds a line of any CSV file that this package reads, in bytes. A longer one is refused
// after MaxLine bytes, whatever its length, so that no input makes the reader allocate.
const MaxLine = 64 << 10

// SyntaxError says where a CSV file is wrong, and what is allowed there.
type SyntaxError struct {
	Line    int    // from 1; 0: the file as a whole
	Column  string // empty: the line as a whole
	Value   string // what was found, when Column is set
	Problem string
}

func (e *SyntaxError) Error() string {
	switch {
	case e.Line == 0:
		return e.Problem
	case e.Column == "":
		return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
	default:
		return fmt.Sprintf("line %d, column %s: %q %s", e.Line, e.Column, shorten(e.Value), e.Problem)
	}
}

// shorten keeps an error readable when the offending value is not.
func shorten(s string) string {
	const limit = 60
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}

// lineReader splits CSV text into lines and lines into fields. A quoted field may not span lines:
// one record is one line, which bounds memory and keeps line numbers honest.
type lineReader struct {
	r       *bufio.Reader
	line    int
	partial bool // the last line read had no line end
	fields  []string
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, MaxLine+len("\r\n"))}
}

// next returns the fields of the next line that is not blank; they are valid until the next call.
func (l *lineReader) next() ([]string, error) {
	for {
		text, err := l.text()
		if err != nil {
			return nil, err
		}
		if strings.Trim(text, " \t") == "" {
			continue
		}
		var problem string
		if l.fields, problem = splitFields(l.fields[:0], text); problem != "" {
			return nil, l.fail(problem)
		}
		return l.fields, nil
	}
}

// text returns the next line without its end and, on the first line, without a byte order mark.
func (l *lineReader) text() (string, error) {
	raw, err := l.r.ReadSlice('\n')
	if len(raw) == 0 && err == io.EOF {
		return "", io.EOF
	}
	l.line++
	l.partial = err == io.EOF
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return "", fmt.Errorf("line %d: %w", l.line, err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r")
	if errors.Is(err, bufio.ErrBufferFull) || len(text) > MaxLine {
		return "", l.fail(fmt.Sprintf("is longer than %d KiB", MaxLine>>10))
	}
	if l.line == 1 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text, nil
}

func (l *lineReader) fail(problem string) error {
	return &SyntaxError{Line: l.line, Problem: problem}
}

// splitFields appends the comma-separated fields of one line to dst. Blanks around a field are
// dropped unless it is quoted; a quote inside a quoted field is doubled.
func splitFields(dst []string, line string) (fields []string, problem string) {
	for {
		line = strings.TrimLeft(line, " \t")
		var field string
		if strings.HasPrefix(line, `"`) {
			if field, line, problem = quotedField(line[1:]); problem != "" {
				return dst, problem
			}
		} else {
			end := strings.IndexByte(line, ',')
			if end < 0 {
				end = len(line)
			}
			field, line = strings.TrimRight(line[:end], " \t"), line[end:]
			if strings.Contains(field, `"`) {
				return dst, fmt.Sprintf("field %d has a quote in the middle: quote the whole field and double the quote", len(dst)+1)
			}
		}
		dst = append(dst, field)
		if line == "" {
			return dst, ""
		}
		line = line[1:] // the comma
	}
}

// quotedField reads up to the closing quote; rest is empty or starts with a comma.
func quotedField(s string) (field, rest, problem string) {
	var unescaped strings.Builder
	for {
		end := strings.IndexByte(s, '"')
		if end < 0 {
			return "", "", "a quoted field does not end on its line"
		}
		if strings.HasPrefix(s[end+1:], `"`) {
			unescaped.WriteString(s[:end+1])
			s = s[end+2:]
			continue
		}
		unescaped.WriteString(s[:end])
		rest = strings.TrimLeft(s[end+1:], " \t")
		if rest != "" && rest[0] != ',' {
			return "", "", "a quoted field is followed by more text before the next comma"
		}
		return unescaped.String(), rest, ""
	}
}

// appendField appends s to a line, quoted when splitFields would otherwise read something else.
func appendField(line []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"") && strings.Trim(s, " \t") == s {
		return append(line, s...)
	}
	line = append(line, '"')
	line = append(line, strings.ReplaceAll(s, `"`, `""`)...)
	return append(line, '"')
}

// printable reports whether s is UTF-8 without control characters, which a one-line field cannot
// hold.
func printable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, unicode.IsControl) < 0
}
