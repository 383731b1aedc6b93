package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
	"dodoor/worker/spool"
)

// asNobody makes an executor's tasks run as the user that root's have.
func asNobody(t *testing.T, p *Executor) *procgroup.User {
	t.Helper()
	if os.Geteuid() != 0 {
		needs.Real(t, errors.New("only root runs programs as another user"))
	}
	u, err := procgroup.FindUser("")
	if err != nil {
		t.Fatal(err)
	}
	p.cfg.User, p.rule.User = u, u
	reachable(t, os.TempDir())
	reachable(t, filepath.Dir(p.cfg.Allow[0]))
	return u
}

// reachable opens the folders of a test to everybody: those above it are.
func reachable(t testing.TB, folder string) {
	t.Helper()
	for _, f := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(os.TempDir(), 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
}

// A task of another user has a folder, a script and standard input that are that user's, and may open its output by name.
func TestTasksOfAnotherUser(t *testing.T) {
	for _, mode := range []string{off, required} {
		t.Run(mode, func(t *testing.T) {
			p, _ := newCommands(t, mode)
			u := asNobody(t, p)
			kept := t.TempDir()
			output, err := spool.New(spool.Config{Worker: "w", Folder: kept, TaskBytes: 1 << 20, Bytes: 1 << 20,
				Give: func(_ string, file *os.File) error { return u.Give(file) }})
			if err != nil {
				t.Fatal(err)
			}
			defer output.Close()
			p.cfg.Spool = output
			script := "#!/bin/sh\nstat -c '%u %a' . $0; cat </dev/stdin; echo; id -un; echo $USER $LOGNAME; " +
				"[ $HOME = $TMPDIR ] && touch $HOME/x && echo home >/dev/stdout; cat /proc/1/environ 2>/dev/null || echo private\n"
			s := command(cluster.Template{Script: []byte(script), Stdin: []byte("input"), Workdir: ""}, 1)
			executortest.Finished(t, p.Run(t.Context(), s))
			name := u.Name
			want := fmt.Sprintf("%d 700\n%[1]d 600\ninput\n%s\n%[2]s %[2]s\nhome\nprivate\n", u.UID, name)
			if got := spooled(t, output, s.TaskID, false); got != want {
				t.Errorf("%q, want %q", got, want)
			}
			files, _ := filepath.Glob(kept + "/*/*.out")
			var info unix.Stat_t
			if len(files) != 1 || unix.Stat(files[0], &info) != nil || int(info.Uid) != u.UID {
				t.Errorf("%v, %+v", files, info)
			}
		})
	}
}

// What the user may not run, or work in, is refused before it starts: this process's own rights do not count.
func TestAnotherUsersRightsCount(t *testing.T) {
	p, _ := newCommands(t, off)
	asNobody(t, p)
	mine := t.TempDir()
	program := filepath.Join(mine, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	reachable(t, mine)
	closed := filepath.Join(mine, "closed")
	if err := os.Mkdir(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	for want, template := range map[string]cluster.Template{
		"program is not executable for user ":  {Argv: []string{program}},
		"closed/x: permission denied for user": {Argv: []string{closed + "/x"}},
		"tasks may not go into " + closed:      {Argv: []string{"/bin/true"}, Workdir: closed},
		closed + "/below: permission denied":   {Argv: []string{"/bin/true"}, Workdir: closed + "/below"},
		"no program \"nosuch\" in the PATH of": {Argv: []string{"nosuch"}},
	} {
		if err := p.Allows("", &template); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("allowed: %v, want %s", err, want)
		}
		if r := p.Run(t.Context(), command(template, 1)); r.Outcome != cluster.Failed || !strings.Contains(r.Reason, want) {
			t.Errorf("%+v, want %s", r, want)
		}
	}
	p.cfg.Allow = []string{program}
	const want = "program is not executable for user nobody: install it where user nobody may run it"
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}

// Nobody of another user escapes either.
func TestNobodyEscapesAsAnotherUser(t *testing.T) {
	for _, mode := range []string{off, required} {
		for _, how := range []string{"plain", "daemon", "stranger"} {
			t.Run(mode+"/"+how, func(t *testing.T) {
				p := newProcess(t, mode)
				asNobody(t, p)
				notes := filepath.Join(filepath.Dir(p.cfg.Allow[0]), "notes")
				if err := os.Mkdir(notes, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Chown(notes, p.cfg.User.UID, p.cfg.User.GID); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := runs(t, func() worker.Result { return p.Run(ctx, p.task(1, 64, "spawn="+how+":"+notes+"/pids", "sleep=1h")) })
				pid := executortest.Noted(t, notes+"/pids", 1)[0]
				cancel()
				if r := ended(); r.Outcome != cluster.Cancelled || executortest.Alive(pid) {
					t.Errorf("%+v, alive: %t", r, executortest.Alive(pid))
				}
			})
		}
	}
}
