package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker/executor/executortest"
)

// Only what the lists allow runs, whatever way leads there.
func TestWhatIsAllowed(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"bin/tool": "#!/bin/sh\n", "bin/sub/deep": "#!/bin/sh\n", "other/evil": "#!/bin/sh\n",
		"bin/plain": ""} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"bin/out": "../other/evil", "bin/in": "tool", "bin/up": "../other", "alias": "bin",
		"named": "bin/tool"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "bin/plain"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		allow, program, want string // want: part of why not; empty: it may
	}{
		{"*", "/other/evil", ""},
		{"*", "/no/such", "no such file"},
		{"*", "/bin/plain", "is not executable"},
		{"*", "/bin", "is not a file"},
		{"/bin/tool", "/bin/tool", ""},
		{"/bin/tool", "/bin/../bin/./tool", ""},
		{"/bin/tool", "/alias/tool", ""}, // the same one
		{"/alias/tool", "/bin/tool", ""},
		{"/bin/tool", "/bin/in", "may not run ROOT/bin/in, which is ROOT/bin/tool: process.allow has only ROOT/bin/tool; add the program"},
		{"/named", "/bin/tool", "may not run"}, // a link says how the program is called, which some look at
		{"/bin/tool", "/bin/sub/deep", "may not run ROOT/bin/sub/deep: process.allow has only"},
		{"/bin/", "/bin/tool", ""},
		{"/bin/", "/bin/in", ""},
		{"/bin/", "/bin/sub/deep", ""},
		{"/bin/", "/bin/../other/evil", "may not run"},
		{"/bin/", "/bin/out", "which is ROOT/other/evil"},
		{"/bin/", "/bin/up/evil", "which is ROOT/other/evil"},
		{"/bin/", "/other/evil", "may not run"},
		{"/alias/", "/bin/tool", ""},
		{"/bin/sub/", "/bin/tool", "may not run"},
	} {
		allow := strings.TrimPrefix(root+c.allow, root+"*")
		if c.allow == anything {
			allow = anything
		}
		p := newAllowing(t, []string{allow}, nil)
		err := p.Allows("", &cluster.Template{Argv: []string{root + c.program}})
		want := strings.ReplaceAll(c.want, "ROOT", root)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s allows %s: %v, want %q", c.allow, c.program, err, want)
		}
		if r := p.Run(t.Context(), command(cluster.Template{Argv: []string{root + c.program}}, 1)); want != "" && r.Outcome != cluster.Failed {
			t.Errorf("%s runs %s: %+v", c.allow, c.program, r)
		}
	}
}

func newAllowing(t *testing.T, allow, workdirs []string) *Executor {
	t.Helper()
	p, err := New(Config{Allow: allow, Workdirs: workdirs, Cgroup: off, Worker: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTemplatesThatAreNotAllowed(t *testing.T) {
	inside, outside := t.TempDir(), t.TempDir()
	if err := os.Mkdir(inside+"/below", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, inside+"/link"); err != nil {
		t.Fatal(err)
	}
	some := newAllowing(t, []string{"/bin/true", "/bin/sh"}, []string{inside})
	for _, c := range []struct {
		p    *Executor
		t    cluster.Template
		want string
	}{
		{newAllowing(t, nil, nil), cluster.Template{Argv: []string{"true"}}, "process.allow is empty on worker w1, so it runs no commands"},
		{some, cluster.Template{Argv: []string{"true"}}, ""},
		{some, cluster.Template{Argv: []string{"cat"}}, "worker w1 may not run /usr/bin/cat"},
		{some, cluster.Template{Argv: []string{"no-such"}}, `worker w1 has no program "no-such" in the PATH of tasks`},
		{some, cluster.Template{Argv: []string{"./true"}}, "no absolute path"},
		{some, cluster.Template{Argv: []string{"{}"}}, `process.allow has only /bin/true, /bin/sh, and "*" would allow it`},
		{newAllowing(t, []string{"*"}, nil), cluster.Template{Argv: []string{"{}"}}, ""},
		{some, cluster.Template{Script: []byte("true")}, ""},
		{some, cluster.Template{Script: []byte("#! /bin/sh -e\ntrue")}, ""},
		{some, cluster.Template{Script: []byte("#!/bin/sed -f\n")}, "worker w1 may not run /bin/sed"},
		{some, cluster.Template{Script: []byte("#!/usr/bin/env sed\n")}, "may not run /usr/bin/sed"},
		{some, cluster.Template{Script: []byte("#!/usr/bin/env -S sh\n")}, "may not run /usr/bin/env"},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: inside}, ""},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: inside + "/below"}, ""},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: inside + "/link"}, "worker w1 may not work in " + outside},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: inside + "/.."}, "process.workdirs has only " + inside},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: inside + "/none"}, "worker w1 has no working folder"},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: "/bin/true"}, "is not a folder"},
		{some, cluster.Template{Argv: []string{"true"}, Workdir: "below"}, "must be an absolute path"},
		{newAllowing(t, []string{"*"}, nil), cluster.Template{Argv: []string{"true"}, Workdir: "/"}, "process.workdirs is empty on worker w1"},
		{newAllowing(t, []string{"*"}, []string{"*"}), cluster.Template{Argv: []string{"true"}, Workdir: "/"}, ""},
		{some, cluster.Template{Argv: []string{"true", "\x00"}}, "zero byte"},
		{some, cluster.Template{}, "there is no command"},
		{some, cluster.Template{Argv: []string{"true"}, Image: "lab/tool:3"},
			`worker w1 runs no containers (worker.executor), so nothing in image "lab/tool:3": name no image`},
		{some, cluster.Template{Argv: []string{"x"}, Env: []string{"PATH=" + strings.Repeat("/a:", maxFolders)}}, "has 101 folders: at most 100"},
		{some, cluster.Template{Argv: []string{"true"}, Env: []string{"A"}}, "NAME=VALUE is needed"},
		{some, cluster.Template{Argv: []string{"true"}, Env: []string{"A=\x00"}}, "zero byte"},
	} {
		err := c.p.Allows("", &c.t)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q in %s: %v, want %q", c.t.Argv, c.t.Workdir, err, c.want)
		}
	}
}

// Folders and "*" hold for configured types as well.
func TestTypesBelowAllowedFolders(t *testing.T) {
	program := executortest.Install(t)
	for allow, want := range map[string]cluster.Outcome{filepath.Dir(program) + "/": cluster.Finished, anything: cluster.Finished,
		filepath.Dir(program) + "/none/": cluster.Failed} {
		p := newAllowing(t, []string{allow}, nil)
		s := executortest.Start(1, 64, 1000)
		s.Argv = []string{program}
		if r := p.Run(t.Context(), s); r.Outcome != want {
			t.Errorf("%s: %+v", allow, r)
		}
		if err := p.Check(); (err == nil) != (want == cluster.Finished) {
			t.Errorf("%s: %v", allow, err)
		}
	}
}
