package needs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// listener is a test that notes how it ends.
type listener struct {
	testing.TB
	failed, skipped string
}

func (*listener) Helper() {}

func (l *listener) Fatalf(format string, a ...any) {
	l.failed = fmt.Sprintf(format, a...)
	runtime.Goexit()
}

func (l *listener) Skip(a ...any) {
	l.skipped = fmt.Sprint(a...)
	runtime.Goexit()
}

// outcome runs f as a test of its own and returns how it ended.
func outcome(f func(testing.TB)) (l listener) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(&l)
	}()
	<-ended
	return l
}

func TestReal(t *testing.T) {
	for _, c := range []struct {
		ci              string
		err             error
		failed, skipped string
	}{
		{"true", nil, "", ""},
		{"", nil, "", ""},
		{"true", errors.New("no engine"), "no engine (and CI needs it)", ""},
		{"", errors.New("no engine"), "", "no engine"},
	} {
		t.Setenv("CI", c.ci)
		l := outcome(func(t testing.TB) { Real(t, c.err) })
		if l.failed != c.failed || l.skipped != c.skipped {
			t.Errorf("CI=%s, %v: failed %q, skipped %q", c.ci, c.err, l.failed, l.skipped)
		}
	}
}

func TestReference(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "here.csv"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		folder, name    string
		failed, skipped string // a part of the message
	}{
		{folder, "here.csv", "", ""},
		{folder, "elsewhere.csv", filepath.Join(folder, "elsewhere.csv"), ""},
		{"relative", "here.csv", "want an absolute path", ""},
		{"", "here.csv", "", "CONTRIBUTING.md"},
	} {
		t.Setenv("DODOOR_DATA", c.folder)
		var path string
		l := outcome(func(t testing.TB) { path = Reference(t, c.name) })
		if !said(l.failed, c.failed) || !said(l.skipped, c.skipped) {
			t.Errorf("DODOOR_DATA=%q, %s: failed %q, skipped %q", c.folder, c.name, l.failed, l.skipped)
		}
		if found := filepath.Join(folder, "here.csv"); (l.failed+l.skipped == "") != (path == found) {
			t.Errorf("DODOOR_DATA=%q, %s: path %q", c.folder, c.name, path)
		}
	}
}

// said reports whether message holds part; without a part, that there is no message.
func said(message, part string) bool {
	return strings.Contains(message, part) && (message == "") == (part == "")
}
