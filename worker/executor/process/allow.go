package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dodoor/internal/cluster"
	"dodoor/internal/procgroup"
	"dodoor/worker/executor"
)

// anything is the entry of process.allow and process.workdirs that allows all.
const anything = "*"

// taskPath is where programs without a path are looked up, as tasks do.
const taskPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Allows says why a command may not run for a user here, if so.
func (p *Executor) Allows(user string, t *cluster.Template) error {
	r, err := p.rulesOf(user)
	if errors.Is(err, procgroup.ErrUnanswered) {
		return r.wellFormed(t) // what its account may, the task finds out
	}
	if err != nil {
		return fmt.Errorf("worker %s: %w", p.cfg.Worker, err)
	}
	return r.user.Do(func() error { return r.allows(t) })
}

// wellFormed says what is wrong with a command whatever the files are, and whoever may use them.
func (p *rules) wellFormed(t *cluster.Template) error {
	if err := executor.CheckCommand(t); err != nil {
		return err
	}
	switch {
	case len(p.cfg.Allow) == 0:
		return fmt.Errorf("process.allow is empty on worker %s, so it runs no commands", p.cfg.Worker)
	case len(p.allow) == 0:
		return fmt.Errorf("process.allow has nothing for %s on worker %s", executor.Whom(p.submitter), p.cfg.Worker)
	}
	if t.Image != "" {
		return fmt.Errorf("worker %s runs no containers (worker.executor), so nothing in image %.200q: name no image", p.cfg.Worker, t.Image)
	}
	return p.allowsEnv(t.Env)
}

func (p *rules) allows(t *cluster.Template) error {
	if err := p.wellFormed(t); err != nil {
		return err
	}
	workdir, err := p.allowsWorkdir(t.Workdir)
	if err != nil {
		return err
	}
	program := executor.Interpreter(t.Script)[0]
	if len(t.Script) == 0 {
		program = t.Argv[0]
		if executor.Varies(program) {
			return p.allowsAny(program)
		}
	}
	_, err = p.resolve(t, workdir, program)
	return err
}

// allowsAny is about a program that is another one for every task.
func (p *rules) allowsAny(program string) error {
	if slices.Contains(p.allow, anything) {
		return nil
	}
	return fmt.Errorf("worker %s would have to run any program for %.80q: process.allow has only %s, and \"*\" would allow it",
		p.cfg.Worker, program, strings.Join(p.allow, ", "))
}

// allowsProgram returns the path of a program that process.allow allows, by which it has to be started: on the way there
// are no links that somebody could change after this look, or that lead elsewhere for another process. An entry allows the
// program of its name in its folder, wherever links lead to that: a link to a program is another program. A folder allows
// what is in it or below once all links are followed.
func (p *rules) allowsProgram(path string) (string, error) {
	if slices.Contains(p.allow, anything) {
		return path, nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	named := inFolder(path)
	for _, entry := range p.allow {
		folder := strings.HasSuffix(entry, "/")
		switch {
		case !folder && named != "" && inFolder(entry) == named, folder && below(entry, real) && below(entry, named):
			return named, nil // some programs look at how they are called
		case folder && below(entry, real):
			return real, nil
		}
	}
	by := path
	if real != filepath.Clean(path) {
		by += ", which is " + real
	}
	return "", fmt.Errorf("worker %s may not run %s: process.allow has only %s; add the program, its folder with a slash behind it, or "+
		"\"*\" for any", p.cfg.Worker, by, strings.Join(p.allow, ", "))
}

// inFolder is a path whose folder is resolved, but not its last part. It is empty for what cannot be.
func inFolder(path string) string {
	cut := strings.LastIndexByte(path, '/')
	folder, err := filepath.EvalSymlinks(path[:cut+1])
	if base := path[cut+1:]; err == nil && base != "" && base != "." && base != ".." {
		return filepath.Join(folder, base)
	}
	return ""
}

// below reports whether a resolved path is a folder or below it.
func below(folder, real string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	return err == nil && (real == folder || strings.HasPrefix(real, strings.TrimSuffix(folder, "/")+"/"))
}

// allowsWorkdir returns the folder that a command may work in, by a path without links: it was that which was looked at.
func (p *rules) allowsWorkdir(folder string) (string, error) {
	if folder == "" {
		return "", nil
	}
	if len(p.cfg.Workdirs) == 0 {
		return "", fmt.Errorf("process.workdirs is empty on worker %s, so commands work in folders of their own alone: add %.200s", p.cfg.Worker,
			folder)
	}
	if !filepath.IsAbs(folder) {
		return "", fmt.Errorf("the working folder %.200q must be an absolute path", folder)
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", folder)
	}
	if err == nil && !enterable(folder) {
		err = fmt.Errorf("tasks may not go into %s", folder)
	}
	if err != nil {
		return "", fmt.Errorf("worker %s has no working folder %.200s: %w", p.cfg.Worker, folder, err)
	}
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(p.cfg.Workdirs, func(entry string) bool { return entry == anything || below(entry, real) }) {
		return "", fmt.Errorf("worker %s may not work in %s: process.workdirs has only %s; add the folder, or \"*\" for any", p.cfg.Worker, real,
			strings.Join(p.cfg.Workdirs, ", "))
	}
	return real, nil
}

// enterable reports whether this thread, with its rights to files, may go into a folder: access would ask for other numbers.
func enterable(folder string) bool {
	_, err := os.Stat(folder + "/.")
	return err == nil
}

// allowsType reports whether a configured type may run a program: whose tasks are of it makes no difference.
func (p *Executor) allowsType(program string) bool {
	everybody := executor.EntriesFor(p.cfg.Allow, "")
	if slices.Contains(everybody, program) || slices.Contains(everybody, anything) {
		return true
	}
	real, err := filepath.EvalSymlinks(program)
	holds := func(entry string) bool { return strings.HasSuffix(entry, "/") && below(entry, real) }
	return err == nil && slices.ContainsFunc(everybody, holds)
}

// checkAllowed fails for entries of process.allow that are no programs or folders of this machine.
func (p *rules) checkAllowed() error {
	if len(p.allow) == 0 {
		return errors.New("process.allow is empty, so that no task could run: list the programs of the task types")
	}
	var missing []error
	for _, entry := range p.allow {
		err := p.runnable(entry)
		if strings.HasSuffix(entry, "/") {
			if _, err = os.ReadDir(entry); err != nil {
				err = p.refused(err)
			}
		}
		if entry != anything && err != nil {
			remedy := "install it here"
			if p.user != nil {
				remedy = "install it where user " + p.user.Name + " may run it"
			}
			missing = append(missing, fmt.Errorf("process.allow: %w: %s, or take it off the list", err, remedy))
		}
	}
	return errors.Join(missing...)
}
