package process

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker/executor"
)

// foundFor is how long it stays true where a program is, and that it may run.
const foundFor = time.Second

// maxFound bounds how many programs that is remembered of.
const maxFound = 256

// programs remembers the programs of commands: the tasks of a job run the same one, and to look for it takes as long as a
// short one runs.
type programs struct {
	mu    sync.Mutex
	found map[wanted]found
}

// wanted is a program by its name, by who wants it, and by what else of a template says where it is.
type wanted struct{ submitter, program, workdir, path string }

type found struct {
	path string
	at   time.Time
}

// find returns the path of a command's program, which may run here, in a folder without links on its way.
func (p *rules) find(t *cluster.Template, workdir, program string) (path string, err error) {
	folders, _ := executor.Variable(t.Env, "PATH")
	key, now := wanted{p.submitter, program, workdir, folders}, time.Now()
	p.programs.mu.Lock()
	known := p.programs.found[key]
	p.programs.mu.Unlock()
	if known.path != "" && now.Sub(known.at) < foundFor {
		return known.path, nil
	}
	err = p.user.Do(func() (err error) {
		path, err = p.resolve(t, workdir, program)
		return err
	})
	if err != nil {
		return "", err
	}
	p.programs.mu.Lock()
	defer p.programs.mu.Unlock()
	if len(p.programs.found) >= maxFound || p.programs.found == nil {
		p.programs.found = map[wanted]found{}
	}
	p.programs.found[key] = found{path, now}
	return path, nil
}

// resolve looks for a command's program, which has to be one that may run here.
func (p *rules) resolve(t *cluster.Template, workdir, program string) (path string, err error) {
	switch {
	case filepath.IsAbs(program):
		path = program
	case strings.Contains(program, "/") && workdir != "":
		path = workdir + "/" + program
	case strings.Contains(program, "/"):
		return "", fmt.Errorf("the program %.200q has no absolute path, and a task's own folder is empty: give the path, or a working folder",
			program)
	default:
		if path, err = p.lookUp(t, program); err != nil {
			return "", err
		}
	}
	if err := p.runnable(path); err != nil {
		return "", fmt.Errorf("worker %s cannot run %.200q: %w", p.cfg.Worker, program, err)
	}
	return p.allowsProgram(path)
}

// maxFolders bounds how many folders of a PATH are looked in.
const maxFolders = 100

// lookUp finds a program in the PATH that the command gets.
func (p *rules) lookUp(t *cluster.Template, program string) (string, error) {
	folders, given := executor.Variable(t.Env, "PATH")
	if !given {
		folders = taskPath
	}
	all := filepath.SplitList(folders)
	if len(all) > maxFolders {
		return "", fmt.Errorf("the PATH %.80q has %d folders: at most %d are looked in", folders, len(all), maxFolders)
	}
	for _, folder := range all {
		if path := folder + "/" + program; filepath.IsAbs(folder) && p.runnable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("worker %s has no program %.200q in the PATH of tasks, %.200s", p.cfg.Worker, program, folders)
}
