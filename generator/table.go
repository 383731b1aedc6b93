package generator

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode"
)

// ErrTruncated says that a file of rows ends in the middle of a line, so whoever wrote it did not finish.
var ErrTruncated = errors.New("the last line is incomplete: the file was cut off")

// column is one column of a CSV file whose lines are values of T.
type column[T any] struct {
	name  string
	write func(line []byte, row *T) []byte
	read  func(cell string, row *T) (problem string)
}

// Writer streams values as CSV, one line each, after a header line.
type Writer[T any] struct {
	b       *bufio.Writer
	columns []column[T]
	line    []byte
}

func newWriter[T any](w io.Writer, columns []column[T]) (*Writer[T], error) {
	t := &Writer[T]{b: bufio.NewWriterSize(w, MaxLine), columns: columns}
	for i, c := range columns {
		if i > 0 {
			t.line = append(t.line, ',')
		}
		t.line = append(t.line, c.name...)
	}
	_, err := t.b.Write(append(t.line, '\n'))
	return t, err
}

// Write appends one line. It reaches the underlying writer with Flush, or when the buffer is full.
func (t *Writer[T]) Write(row *T) error {
	t.line = t.line[:0]
	for i := range t.columns {
		if i > 0 {
			t.line = append(t.line, ',')
		}
		t.line = t.columns[i].write(t.line, row)
	}
	if len(t.line) > MaxLine {
		return fmt.Errorf("a row of %d bytes is longer than %d KiB; it begins with %q", len(t.line), MaxLine>>10, t.line[:60])
	}
	_, err := t.b.Write(append(t.line, '\n'))
	return err
}

// Flush hands everything written so far to the underlying writer.
func (t *Writer[T]) Flush() error { return t.b.Flush() }

// Reader reads what Writer wrote. It is strict: exactly the columns of this version, in their order.
type Reader[T any] struct {
	lines   *lineReader
	columns []column[T]
	begun   bool
}

func newReader[T any](r io.Reader, columns []column[T]) *Reader[T] {
	return &Reader[T]{lines: newLineReader(r), columns: columns}
}

// Read stores the next row in *row. It returns io.EOF after the last one, ErrTruncated when the file
// was cut off, and a *SyntaxError for anything that Writer would not have written.
func (t *Reader[T]) Read(row *T) error {
	if !t.begun {
		if err := t.header(); err != nil {
			return err
		}
		t.begun = true
	}
	fields, err := t.fields()
	if err != nil {
		return err
	}
	if len(fields) != len(t.columns) {
		return t.lines.fail(fmt.Sprintf("has %d fields instead of %d", len(fields), len(t.columns)))
	}
	for i, c := range t.columns {
		if problem := c.read(fields[i], row); problem != "" {
			return &SyntaxError{Line: t.lines.line, Column: c.name, Value: fields[i], Problem: problem}
		}
	}
	return nil
}

func (t *Reader[T]) fields() ([]string, error) {
	fields, err := t.lines.next()
	if t.lines.partial {
		return nil, ErrTruncated
	}
	return fields, err
}

func (t *Reader[T]) header() error {
	fields, err := t.fields()
	if err == io.EOF {
		return &SyntaxError{Problem: "the file is empty: not even a header"}
	}
	if err != nil {
		return err
	}
	for i, c := range t.columns {
		if i >= len(fields) || fields[i] != c.name {
			return t.lines.fail(fmt.Sprintf("the header must have %s as column %d", c.name, i+1))
		}
	}
	if len(fields) > len(t.columns) {
		return t.lines.fail(fmt.Sprintf("unknown column %q", shorten(fields[len(t.columns)])))
	}
	return nil
}

// text is a column of free text. Line breaks and other control characters become blanks, so that a
// row stays one line whatever a task printed; a long text is cut so that the line stays readable.
func text[T any](name string, at func(*T) *string) column[T] {
	const limit = 4 << 10
	return column[T]{
		name: name,
		write: func(line []byte, row *T) []byte {
			s := *at(row)
			if len(s) > limit {
				s = s[:limit]
			}
			if !printable(s) {
				s = strings.Map(func(r rune) rune {
					if unicode.IsControl(r) {
						return ' '
					}
					return r
				}, strings.ToValidUTF8(s, "?"))
			}
			return appendField(line, s)
		},
		read: func(cell string, row *T) string {
			if !printable(cell) {
				return "must be UTF-8 text without control characters"
			}
			*at(row) = strings.Clone(cell)
			return ""
		},
	}
}

// number is a column of whole multiples of 10^-places, at least least.
func number[T any, N ~int | ~int64](name string, places int, least int64, at func(*T) *N) column[T] {
	return column[T]{
		name: name,
		write: func(line []byte, row *T) []byte {
			return appendDecimal(line, int64(*at(row)), places)
		},
		read: func(cell string, row *T) string {
			v, exact, problem := parseDecimal(cell, places)
			switch {
			case problem != "":
				return problem
			case !exact:
				return fmt.Sprintf("has more than %d decimals", places)
			case v < least:
				return "is below " + string(appendDecimal(nil, least, places))
			}
			*at(row) = N(v)
			return ""
		},
	}
}

// Never stands for a time that a task did not reach; its cell is empty.
const Never = time.Duration(math.MinInt64)

// instant is a column of times in milliseconds with fraction, or nothing.
func instant[T any](name string, at func(*T) *time.Duration) column[T] {
	moment := number(name, nanoPlaces, math.MinInt64+1, at)
	return column[T]{
		name: name,
		write: func(line []byte, row *T) []byte {
			if *at(row) == Never {
				return line
			}
			return moment.write(line, row)
		},
		read: func(cell string, row *T) string {
			if cell == "" {
				*at(row) = Never
				return ""
			}
			return moment.read(cell, row)
		},
	}
}
