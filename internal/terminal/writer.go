// Package terminal keeps what programs print, and what a reason or a name may hold of it, from doing anything to the terminal of
// whoever reads it.
package terminal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Is tells whether somebody looks at what is written.
func Is(w io.Writer) bool {
	if safe, ok := w.(*Writer); ok {
		w = safe.to
	}
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Safe is w, or a Writer in front of it where it is a terminal: what goes to a pipe or a file stays as it is.
func Safe(w io.Writer) io.Writer {
	if Is(w) {
		return NewWriter(w)
	}
	return w
}

// Writer shows control characters instead of having them act: ends of lines and tabs pass, all else, and what is no
// UTF-8, becomes \x and two digits per byte. It is safe for concurrent use.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	part []byte // a character that has begun
	out  []byte // memory of the last call's
}

// NewWriter returns a Writer in front of w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Unwrap returns the terminal.
func (w *Writer) Unwrap() io.Writer { return w.to }

// Write writes p. The beginning of a character at its end waits for the next call, or for Flush. When it fails nobody knows how
// much of p was written.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data := p
	if len(w.part) > 0 {
		data = append(w.part, p...)
		w.part = nil
	}
	whole := len(data) - unfinished(data)
	w.out = Append(w.out[:0], data[:whole])
	w.part = append(w.part, data[whole:]...)
	if _, err := w.to.Write(w.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes a character that began and did not end.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.part) == 0 {
		return nil
	}
	_, err := w.to.Write(Append(nil, w.part))
	w.part = nil
	return err
}

// Flush writes what a Writer holds back, if w is one.
func Flush(w io.Writer) error {
	if safe, ok := w.(*Writer); ok {
		return safe.Flush()
	}
	return nil
}

// unfinished is how many bytes at the end may be the beginning of a character, or of an end of line.
func unfinished(data []byte) int {
	if len(data) > 0 && data[len(data)-1] == '\r' {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if last := data[len(data)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// acts tells whether a character does something: the invisible ones of formatting turn the order of others around, or hide.
func acts(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// Append appends text with its control characters shown.
func Append(to, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			to = fmt.Appendf(to, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || r == '\r' && size < len(text) && text[size] == '\n' || !acts(r):
			to = append(to, text[:size]...)
		default:
			for _, b := range text[:size] {
				to = fmt.Appendf(to, `\x%02x`, b)
			}
		}
		text = text[size:]
	}
	return to
}
