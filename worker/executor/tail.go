package executor

import (
	"bytes"
	"strings"
)

// tailBytes bounds what is kept of a program's output.
const tailBytes = 2048

// tail keeps the end of what is written to it. One goroutine writes; it is read after that has ended.
type tail struct{ kept []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-tailBytes):]...)
	if surplus := len(t.kept) - tailBytes; surplus > 0 {
		t.kept = bytes.Clone(t.kept[surplus:])
	}
	return len(p), nil
}

// String returns the last lines as valid text.
func (t *tail) String() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "?")
}
