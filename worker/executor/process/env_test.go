package process

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/worker/executor/executortest"
)

// No variable makes a listed program another one. Who may run any program may set any variable.
func TestEnvironmentsThatAreAllowed(t *testing.T) {
	some, all := newAllowing(t, []string{"/bin/true"}, nil), newAllowing(t, []string{anything}, nil)
	for variable, want := range map[string]string{
		"LD_PRELOAD=/proc/self/fd/0":   "worker w1 may not set LD_PRELOAD",
		"LD_LIBRARY_PATH=/tmp":         "may not set LD_LIBRARY_PATH",
		"LD_AUDIT=x":                   "may not set LD_AUDIT",
		"LD_=":                         "may not set LD_",
		"GCONV_PATH=/tmp":              "may not set GCONV_PATH",
		"GLIBC_TUNABLES=x":             "process.allow has only /bin/true, and \"*\" would allow it",
		"LOCPATH=/tmp":                 "may not set LOCPATH",
		"TMPDIR=/tmp":                  "", // the task's own folder holds
		"LDFLAGS=-lm":                  "",
		"PATH=/bin":                    "",
		"ld_preload=programs look for": "",
	} {
		of := cluster.Template{Argv: []string{"true"}, Env: []string{"A=1", variable}}
		err := some.Allows("", &of)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", variable, err, want)
		}
		if r := some.Run(t.Context(), command(of, 1)); (r.Outcome == cluster.Finished) != (want == "") {
			t.Errorf("%s: %+v", variable, r)
		}
		if err := all.Allows("", &of); err != nil {
			t.Errorf("%s: %v", variable, err)
		}
	}
}

// The way in that this is about: a library on standard input.
func TestLibrariesThatAreBroughtAlong(t *testing.T) {
	compiler, err := exec.LookPath("cc")
	if err != nil {
		needs.Real(t, err)
	}
	source, library := filepath.Join(t.TempDir(), "x.c"), filepath.Join(t.TempDir(), "x.so")
	code := `#include <unistd.h>
__attribute__((constructor)) static void run(void) { write(1, "evil\n", 5); _exit(0); }`
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-s", "-o", library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(library)
	if err != nil {
		t.Fatal(err)
	}
	p, output := newCommands(t, off)
	of := cluster.Template{Argv: []string{"/usr/bin/gzip", "--help"}, Env: []string{"LD_PRELOAD=/proc/self/fd/0"}, Stdin: text}
	executortest.Finished(t, p.Run(t.Context(), command(of, 1)))
	if got := spooled(t, output, "job.1", false); got != "evil\n" {
		t.Errorf("with any program allowed, prints %q", got)
	}
	p.cfg.Allow = []string{"/usr/bin/gzip"}
	if r := p.Run(t.Context(), command(of, 2)); r.Outcome != cluster.Failed {
		t.Errorf("%+v, %q", r, spooled(t, output, "job.2", false))
	}
}
