package executor

import (
	"bytes"
	"strings"
)

// TailBytes bounds what is kept of a program's output.
const TailBytes = 2048

// Tail keeps the end of what is written to it. One goroutine writes; it is read after that has ended.
type Tail struct{ kept []byte }

// Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p[max(0, len(p)-TailBytes):]...)
	if surplus := len(t.kept) - TailBytes; surplus > 0 {
		t.kept = bytes.Clone(t.kept[surplus:])
	}
	return len(p), nil
}

// String returns the last lines as valid text.
func (t *Tail) String() string {
	return strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "?")
}
