package process

import (
	"os"
	"path/filepath"
	"testing"

	"dodoor/internal/cluster"
)

// evil writes a program of a name into a folder, which says so.
func evil(t *testing.T, folder, name string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\necho evil\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// says runs a command and returns what it prints.
func says(t *testing.T, p *Executor, index int64, of cluster.Template) string {
	t.Helper()
	p.Run(t.Context(), command(of, index))
	return spooled(t, p.cfg.Spool, command(of, index).TaskID, false)
}

// A link that is changed once it was looked at leads nowhere else.
func TestLinksThatChange(t *testing.T) {
	p, _ := newCommands(t, off)
	p.cfg.Allow = []string{"/usr/bin/echo"}
	link, other := filepath.Join(t.TempDir(), "link"), t.TempDir()
	evil(t, other, "echo")
	of := cluster.Template{Argv: []string{link + "/echo", "good"}}
	for i, to := range []string{"/usr/bin", other} {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		if got := says(t, p, int64(i), of); got != "good\n" {
			t.Errorf("%s: prints %q", to, got)
		}
	}
}

// The folder that this process works in is not that of the task.
func TestProgramsOfTheTasksOwnFolder(t *testing.T) {
	p, _ := newCommands(t, off)
	folder := t.TempDir()
	p.cfg.Allow, p.cfg.Workdirs = []string{"/usr/bin/echo"}, []string{folder}
	evil(t, folder+"/usr/bin", "echo")
	t.Chdir("/")
	for i, path := range []string{"/proc/self/cwd/usr/bin/echo", "/dev/fd/../cwd/usr/bin/echo"} {
		if got := says(t, p, int64(i), cluster.Template{Argv: []string{path, "good"}, Workdir: folder}); got != "good\n" {
			t.Errorf("%s prints %q", path, got)
		}
	}
}

// What was looked at is what a task works in and what it starts, by the name it has there.
func TestPathsWithoutLinks(t *testing.T) {
	root := t.TempDir()
	evil(t, root+"/tools", "box")
	evil(t, root+"/other", "x")
	for link, to := range map[string]string{"tools/applet": "box", "outside": "tools/box", "way": "tools"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ allow, program, want string }{
		{"/tools/", "/tools/box", "/tools/box"},
		{"/tools/", "/way/box", "/tools/box"},
		{"/tools/", "/way/applet", "/tools/applet"}, // which asks how it is called
		{"/tools/", "/outside", "/tools/box"},
		{"/tools/box", "/way/box", "/tools/box"},
		{"/way/applet", "/tools/applet", "/tools/applet"},
	} {
		p := newAllowing(t, []string{root + c.allow}, []string{root + "/tools"})
		if got, err := everybodys(t, p).allowsProgram(root + c.program); got != root+c.want || err != nil {
			t.Errorf("%s: %s starts %s, want %s: %v", c.allow, c.program, got, c.want, err)
		}
		if got, err := everybodys(t, p).allowsWorkdir(root + "/way"); got != root+"/tools" || err != nil {
			t.Errorf("works in %s: %v", got, err)
		}
	}
}
