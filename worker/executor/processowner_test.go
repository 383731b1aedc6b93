package executor

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const nobody = 4194304 // more than there can be

// A folder belongs to the worker whose name it has, however odd the names are.
func TestOwners(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-b./% -]{0,5}(\.[0-9]{1,3}){0,3}`)
		one, other := name.Draw(t, "one"), name.Draw(t, "other")
		dead := fmt.Sprintf("%s.%d.5", url.PathEscape(one), nobody)
		if orphaned(dead, one) != true || orphaned(dead, other) != (one == other) {
			t.Fatalf("%q: orphaned by %q %v, by %q %v", dead, one, orphaned(dead, one), other, orphaned(dead, other))
		}
		mine, err := ownerName(one)
		if err != nil || strings.Contains(mine, "/") || orphaned(mine, one) {
			t.Fatalf("%q, %v: orphaned", mine, err)
		}
		if got := ownerOfFolder(workFolder + mine + "-123"); got != mine {
			t.Fatalf("%q is %q's", mine, got)
		}
	})
}

func TestOddNames(t *testing.T) {
	for _, name := range []string{"", ".", "w", "w.1", "w..", "w.a.1", "w.1.a", "w.1.1.1", "x.4194304.1", "w.99999999999999999999.1"} {
		if orphaned(name, "w") {
			t.Errorf("%q is swept", name)
		}
	}
	for name, want := range map[string]bool{
		fmt.Sprintf("w.%d.1", nobody):      true,
		fmt.Sprintf("w.%d.1", os.Getpid()): true, // the number is used again
	} {
		if orphaned(name, "w") != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
	for _, name := range []string{"", "dodoor-", "dodoor-w.1.1", "x-w.1.1-2", "dodoor"} {
		if got := ownerOfFolder(name); got != "" {
			t.Errorf("%q is %q's", name, got)
		}
	}
}

// A file that has the name of a folder is not ours.
func TestOnlyFoldersAreSwept(t *testing.T) {
	root := tree(t, map[string]string{
		fmt.Sprintf("dodoor-w.%d.1-1/below/file", nobody): "", fmt.Sprintf("dodoor-w.%d.1-2", nobody): "",
		fmt.Sprintf("dodoor-v.%d.1-1/file", nobody): "", "other/file": "",
	})
	if err := os.Symlink(filepath.Join(root, "other"), filepath.Join(root, fmt.Sprintf("dodoor-w.%d.1-3", nobody))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", root)
	if n := sweepWorkFolders("w"); n != 1 {
		t.Errorf("swept %d", n)
	}
	left, err := filepath.Glob(root + "/*")
	if err != nil || len(left) != 4 || slices.Contains(left, fmt.Sprintf("%s/dodoor-w.%d.1-1", root, nobody)) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// The groups of a dead worker go, in every hierarchy.
func TestSweepCgroups(t *testing.T) {
	root := t.TempDir()
	v := cgroupV1{root + "/cpu", root + "/cpuacct", root + "/memory"}
	dead, living := fmt.Sprintf("w.%d.1", nobody), fmt.Sprintf("w.%d.%d", os.Getpid(), ticks(t))
	for _, folder := range []string{"cpu/dodoor/" + dead + "/1-a", "memory/dodoor/" + dead + "/1-a/below", "memory/dodoor/" + dead + "/2-b",
		"cpuacct/dodoor/" + living + "/1-a", "cpu/dodoor/x." + dead + "/1-a"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if n := sweepCgroups(v, "w"); n != 2 {
		t.Errorf("swept %d tasks", n)
	}
	left, err := filepath.Glob(root + "/*/dodoor/*")
	if want := []string{root + "/cpu/dodoor/x." + dead, root + "/cpuacct/dodoor/" + living}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, %v", left, err)
	}
}

func ticks(t *testing.T) int64 {
	t.Helper()
	started, err := processStart(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// What the kernel writes, and what it does not.
func FuzzGroupOf(f *testing.F) {
	f.Add("9:name=systemd:/\n4:memory:/a:b\n2:cpu,cpuacct:/c\n0::/\n", "cpuacct")
	f.Add("memory:/", "memory")
	f.Fuzz(func(t *testing.T, text, controller string) {
		group, found := groupOf(text, controller)
		if !strings.Contains(text, group) || found && !strings.Contains(text, controller+":") && !strings.Contains(text, controller+",") {
			t.Errorf("%q of %q in %q", group, controller, text)
		}
	})
}

func TestGroupOf(t *testing.T) {
	const text = "9:name=systemd:/\n4:memory:/a:b\n2:cpu,cpuacct:/c\n0::/\n"
	for controller, want := range map[string]string{"memory": "/a:b", "cpu": "/c", "cpuacct": "/c", "pids": "", "name": ""} {
		if got, found := groupOf(text, controller); got != want || found != (want != "") {
			t.Errorf("%s: %q, %v", controller, got, found)
		}
	}
}
