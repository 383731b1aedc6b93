package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// Permit names all by which a worker judges whether it may run a template: two of the same permit are allowed by the same
// workers, whatever else they run with. One that perhaps no worker can start is judged for itself.
func (t *Template) Permit() string {
	if malformed(t.Argv) || malformed(t.Env) {
		return t.Digest()
	}
	var program, path []string
	if len(t.Script) == 0 {
		program = t.Argv[:min(1, len(t.Argv))]
	}
	for _, variable := range t.Env {
		switch name, _, found := strings.Cut(variable, "="); {
		case !found || name == "":
			return t.Digest()
		case name == "PATH":
			path = append(path, variable)
		}
	}
	h := sha256.New()
	hashList(h, program)
	hashList(h, path)
	for _, part := range [...]string{string(t.Script), t.Image, t.Workdir} {
		hashPart(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// plain is how long an argument may be for sure: a worker refuses what is too long for it.
const plain = 4 << 10

// malformed reports whether it may be that a program cannot get this: it has zero bytes, or is long.
func malformed(list []string) bool {
	return slices.ContainsFunc(list, func(text string) bool { return len(text) > plain || strings.Contains(text, "\x00") })
}
