package terminal

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestAppend(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"a line\n\tand another\r\n":     "a line\n\tand another\r\n",
		"Grüße, 世界 🎉":                   "Grüße, 世界 🎉",
		"\x1b[2J\x1b]0;title\x07":       `\x1b[2J\x1b]0;title\x07`,
		"\u009b31m":                     `\xc2\x9b31m`,
		"ok\rforged\r\n\r":              `ok\x0dforged` + "\r\n" + `\x0d`,
		"a\u202eb\u200b":                `a\xe2\x80\xaeb\xe2\x80\x8b`,
		"\x9b31m":                       `\x9b31m`,
		"\x00\x7f\b\v\f":                `\x00\x7f\x08\x0b\x0c`,
		"caf\xc3":                       `caf\xc3`,
		"\xed\xa0\x80 is half a letter": `\xed\xa0\x80 is half a letter`,
		"\ufffd":                        "\ufffd",
	} {
		if got := string(Append(nil, []byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// harmless fails when text could do anything to a terminal but print.
func harmless(t interface{ Fatalf(string, ...any) }, text []byte) {
	if !utf8.Valid(text) {
		t.Fatalf("%q is no UTF-8", text)
	}
	for at, r := range string(text) {
		if r == '\r' && !strings.HasPrefix(string(text[at+1:]), "\n") || (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) &&
			!strings.ContainsRune("\n\t\r", r) {
			t.Fatalf("%q has %q", text, r)
		}
	}
}

// However a text is cut into pieces, what comes out is the same, and harmless; a harmless text comes out as it is.
func TestWriterShowsControlCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "ü", "世", "🎉",
			"\x1b", "\u0085", "\x9b", "\xc3", "\xe4\xb8",
			"\n", "\r", "\u202e", "\x00", "\xf0\x9f", "\x80"})).Draw(t, "text"), ""))
		var out bytes.Buffer
		w := NewWriter(&out)
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if wrote, err := w.Write(rest[:n]); wrote != n || err != nil {
				t.Fatalf("%d of %d bytes, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if want := Append(nil, text); !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("%q in pieces: %q, want %q", text, out.Bytes(), want)
		}
		harmless(t, out.Bytes())
		if again := Append(nil, out.Bytes()); !bytes.Equal(again, out.Bytes()) {
			t.Fatalf("%q changes to %q", out.Bytes(), again)
		}
	})
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b[0m\xc2\x9b\xff\n"))
	f.Fuzz(func(t *testing.T, text []byte) { harmless(t, Append(nil, text)) })
}

// What is no terminal gets every byte, and the error of whoever takes no more comes through.
func TestSafe(t *testing.T) {
	var pipe bytes.Buffer
	if w := Safe(&pipe); w != &pipe {
		t.Errorf("%T stands before what is no terminal", w)
	}
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	if w := Safe(file); w != file || Is(NewWriter(file)) {
		t.Errorf("%T stands before a file", w)
	}
	file.Close()
	if _, err := NewWriter(file).Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
