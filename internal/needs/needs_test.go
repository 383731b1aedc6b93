package needs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listener is a test that goes on, whatever it is told.
type listener struct {
	testing.TB
	failed, skipped string
}

func (*listener) Helper()                          {}
func (l *listener) Fatalf(format string, a ...any) { l.failed += fmt.Sprintf(format, a...) }
func (l *listener) Skip(a ...any)                  { l.skipped += fmt.Sprint(a...) }
func (l *listener) Skipf(format string, a ...any)  { l.skipped += fmt.Sprintf(format, a...) }

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
		l := &listener{}
		if Real(l, c.err); l.failed != c.failed || l.skipped != c.skipped {
			t.Errorf("CI=%s, %v: failed %q, skipped %q", c.ci, c.err, l.failed, l.skipped)
		}
	}
}

func TestReference(t *testing.T) {
	l := &listener{TB: t}
	path := Reference(l, "no-such-trace.csv")
	if !strings.Contains(l.skipped, "no-such-trace.csv") || l.failed != "" {
		t.Errorf("failed %q, skipped %q", l.failed, l.skipped)
	}
	here, err := os.Getwd()
	if want := filepath.Join(here, "../../../shared/data/no-such-trace.csv"); err != nil || path != want {
		t.Errorf("%s, want %s beside the repository (%v)", path, want, err)
	}
}
