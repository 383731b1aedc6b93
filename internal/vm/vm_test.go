package vm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/needs"
	"dodoor/worker/executor/executortest"
)

// tested are the packages whose tests run on the other kernel.
var tested = []string{"internal/cgroup", "internal/procgroup", "worker/executor/process"}

// newMachine returns a machine that has the tests of those packages, as programs in /tests, and whatever they need.
func newMachine(t *testing.T) *Machine {
	t.Helper()
	m, err := New()
	needs.Real(t, err)
	folder := t.TempDir()
	build := func(args ...string) {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // without libraries
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
	}
	args := []string{"test", "-c", "-ldflags=-s -w", "-o", folder + "/"}
	for _, name := range tested {
		args = append(args, "dodoor/"+name)
	}
	build(args...)
	build("build", "-ldflags=-s -w", "-o", folder+"/", "./testdata/inside")
	programs := map[string]string{"task": executortest.Install(t), "inside": filepath.Join(folder, "inside")}
	for _, name := range tested {
		name = filepath.Base(name) + ".test"
		programs[name] = filepath.Join(folder, name)
	}
	for name, from := range programs {
		if err := m.AddFile("tests/"+name, from); err != nil {
			t.Fatal(err)
		}
	}
	m.AddText("etc/passwd", "root:x:0:0::/tmp:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n")
	m.AddText("etc/group", "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n")
	return m
}

// What a script prints and its exit code come back; a machine that goes off before that is an error, with what its kernel said
// last.
func TestScripts(t *testing.T) {
	m, err := New()
	needs.Real(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m.AddText("etc/greeting", "hello\n")
	output, code, err := m.Run(ctx, t.TempDir(), "cat /etc/greeting; id -u; exit 7")
	if output != "hello\n0\n" || code != 7 || err != nil {
		t.Errorf("%q, %d, %v", output, code, err)
	}
	output, _, err = m.Run(ctx, t.TempDir(), "echo begun; poweroff -f")
	if output != "begun\n" || err == nil || !strings.Contains(err.Error(), "went off before its script ended") ||
		!strings.Contains(err.Error(), "reboot: Power down") {
		t.Errorf("%q, %v", output, err)
	}
}
