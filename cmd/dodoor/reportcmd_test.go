package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func reportOn(args ...string) (stdout, stderr string, code int) {
	var out, errs strings.Builder
	code = runReport(args, &out, &errs)
	return out.String(), errs.String(), code
}

// A run made by dodoor local, reported on from the directory above.
func TestReportOfARealRun(t *testing.T) {
	out := t.TempDir()
	if _, stderr, code := dodoor("local", "-quiet", "-n", "60", "-warmup", "10", "-qps", "200", "-time-scale", "50", "-out",
		out); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	stdout, stderr, code := reportOn(out)
	// There are two figures more if a timer of this machine rang very late: then estimates were not exact.
	said := strings.HasPrefix(stdout, "runs: 1, figures: 13, page: ") || strings.HasPrefix(stdout, "runs: 1, figures: 15, page: ")
	if code != exitDone || !said || stderr != "" {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(out, "report.html")); err != nil {
		t.Error(err)
	}
}

func TestReportUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"-h"}, exitDone, "Usage: dodoor report DIR"},
		{nil, exitUsage, "takes one directory"},
		{[]string{"a", "b"}, exitUsage, "2 arguments"},
		{[]string{"-frobnicate"}, exitUsage, "frobnicate"},
		{[]string{filepath.Join(t.TempDir(), "nowhere")}, exitFailed, "no such file"},
		{[]string{t.TempDir()}, exitFailed, "holds no run"},
	} {
		if _, stderr, code := reportOn(c.args...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit code %d, says %q; want %d and %q", c.args, code, stderr, c.code, c.says)
		}
	}
}
