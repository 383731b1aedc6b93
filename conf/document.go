package conf

import (
	"bytes"
	"errors"
	"slices"

	"github.com/BurntSushi/toml"
)

// maxFileBytes bounds one configuration text; the shipped ones are a hundredth of it.
const maxFileBytes = 1 << 20

// A source is one text with its name for messages.
type source struct {
	name string
	text []byte
}

// A document is a source as TOML: its values, and the line of each key.
type document struct {
	tree  map[string]any
	lines map[string]int
}

// parse reads a text of the given rank. What is not TOML is reported.
func (r *report) parse(from source, rank int) (document, bool) {
	at := func(line int) origin { return origin{rank, from.name, line} }
	if len(from.text) > maxFileBytes {
		r.addAt(at(0), "", "more than %d bytes: not a configuration", maxFileBytes)
		return document{}, false
	}
	found := scanLines(string(from.text))
	if found.tooDeep > 0 {
		r.addAt(at(found.tooDeep), "", "nests more than %d deep", maxNesting)
		return document{}, false
	}
	doc := document{lines: found.at}
	_, err := toml.Decode(string(from.text), &doc.tree)
	var syntax toml.ParseError
	switch {
	case errors.As(err, &syntax):
		r.syntax(syntax, lineOf(syntax, from.text), found.repeats, at)
	case err != nil:
		r.addAt(at(0), "", "%v", err)
	}
	return doc, err == nil
}

// syntax reports why the library refused a text. It stops at the first key that is set twice; the
// scanner knows all of them, and where each was set first.
func (r *report) syntax(err toml.ParseError, line int, repeats []repeat, at func(line int) origin) {
	if !slices.ContainsFunc(repeats, func(d repeat) bool { return d.line == line }) {
		near := ""
		if err.LastKey != "" {
			near = "near key " + printable(err.LastKey) + ": "
		}
		r.addAt(at(line), "", "%s%s", near, printable(err.Message))
		return
	}
	for _, d := range repeats {
		r.addAt(at(d.line), "", "%s is set twice: first on line %d", d.path, d.first)
	}
}

// lineOf returns the line of a syntax error. The library's own is one too high where a line ends
// too early, and its offset is -1 at a stray carriage return at the start.
func lineOf(err toml.ParseError, text []byte) int {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return 1 + bytes.Count(text[:min(max(err.Position.Start, 0), len(text))], []byte("\n"))
}
