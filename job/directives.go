package job

import (
	"bytes"
	"fmt"
	"strings"
)

// directive begins a line of a script that has flags.
const directive = "#DODOOR"

// Directives are the flags that a script brings along: the words of its lines that begin with #DODOOR, up to the first
// line that is neither a comment nor blank.
func Directives(script []byte) (flags []string, err error) {
	number := 0
	for text := range bytes.Lines(script) {
		number++
		text = bytes.TrimSpace(text)
		switch {
		case len(text) > 0 && text[0] != '#':
			return flags, nil
		case !bytes.HasPrefix(text, []byte(directive)):
			continue
		}
		rest := string(text[len(directive):])
		if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		words, err := Words(rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", number, directive, err)
		}
		flags = append(flags, words...)
	}
	return flags, nil
}

// Words cuts a line as a shell does: at blanks that are neither quoted nor behind a backslash.
func Words(text string) (words []string, err error) {
	var word strings.Builder
	quote, begun, escaped := byte(0), false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			word.WriteByte(c)
			escaped = false
		case c == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	switch {
	case quote != 0:
		return nil, fmt.Errorf("a quote (%c) is not closed", quote)
	case escaped:
		return nil, fmt.Errorf("a backslash is followed by nothing")
	case begun:
		words = append(words, word.String())
	}
	return words, nil
}

// plain are the bytes that a shell takes as they are.
const plain = "%+,-./:=@_^"

// Quote writes arguments so that a shell reads them as they are.
func Quote(argv []string) string {
	var b strings.Builder
	for i, a := range argv {
		if i > 0 {
			b.WriteByte(' ')
		}
		strange := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(plain, r))
		}
		if a != "" && strings.IndexFunc(a, strange) < 0 {
			b.WriteString(a)
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(a, "'", `'\''`) + "'")
	}
	return b.String()
}
