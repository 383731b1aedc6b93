package scheduler

import (
	"bytes"
	"encoding/hex"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"dodoor/internal/cluster"
)

// What is learned is learned of a name: that of a task's job, if it has one, else type and mode, else the program. A
// type's name has a slash, and no other has.

// typeKey writes the name of a type's tasks.
func typeKey(key []byte, typ, mode string) []byte {
	key = append(append(append(key[:0], typ...), '/'), mode...)
	return shortened(key)
}

// commandKey writes the name of a command's tasks.
func commandKey(key []byte, j *job, t *template) []byte {
	if j == nil || j.Name == "" {
		return append(key[:0], t.program...)
	}
	return printable(append(key[:0], j.Name...))
}

// programName names what a template runs: the program without its folder; of a script, which may be anything, its interpreter
// and the beginning of the template's digest.
func programName(t *cluster.Template, digest string) string {
	if len(t.Script) == 0 && len(t.Argv) > 0 {
		return string(printable([]byte(path.Base(t.Argv[0]))))
	}
	first, _, _ := strings.Cut(string(t.Script[:min(len(t.Script), 256)]), "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	interpreter := "script"
	if len(words) > 0 && strings.HasPrefix(first, "#!") {
		interpreter = path.Base(words[0])
	}
	if len(words) > 1 && interpreter == "env" {
		interpreter = path.Base(words[1])
	}
	return string(printable([]byte(interpreter + " " + digest[:min(len(digest), 8)])))
}

// printable makes a name of what may be any bytes: what cannot travel as a name, or would look like a type, is an underscore.
func printable(key []byte) []byte {
	key = bytes.ReplaceAll(key, []byte("/"), []byte("_"))
	odd := func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return '_'
		}
		return r
	}
	if bytes.ContainsFunc(key, func(r rune) bool { return odd(r) != r }) {
		key = bytes.Map(odd, key)
	}
	if len(key) == 0 {
		return []byte("_")
	}
	return shortened(key)
}

// shortened bounds a name: of a long one the end is a hash, so that no two are the same.
func shortened(key []byte) []byte {
	if len(key) <= cluster.MaxLearned {
		return key
	}
	const digits = 16
	hash := cluster.HashID(string(key))
	var sum [digits / 2]byte
	for i := range sum {
		sum[i] = byte(hash >> (8 * i))
	}
	end := cluster.MaxLearned - digits - 1
	for !utf8.RuneStart(key[end]) {
		end--
	}
	return hex.AppendEncode(append(key[:end], '~'), sum[:])
}
