package conf

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dodoor/internal/identity"
	"dodoor/worker/executor"
	"dodoor/worker/executor/docker"
)

// The names of executors.
const (
	sleepExecutor    = "sleep"
	stressNGExecutor = "stress-ng"
	dockerExecutor   = "docker"
	processExecutor  = "process"
)

// executors lists how a task can be run; all but sleep do real work.
var executors = []string{sleepExecutor, stressNGExecutor, dockerExecutor, processExecutor}

// Docker configures the executor docker.
type Docker struct {
	Host      string   `toml:"host"`       // of the engine; empty: DOCKER_HOST, or the default socket
	User      string   `toml:"user"`       // uid:gid that tasks run as
	PidsLimit int      `toml:"pids_limit"` // processes and threads per container
	TmpfsMB   int64    `toml:"tmpfs_mb"`   // /tmp, the only writable place, in MiB of the task's memory; 0: none
	Images    []string `toml:"images"`     // that commands may name; "*": any; with USER= before it: for one user alone
}

// Process configures the executor process.
type Process struct {
	// Allow is programs that tasks may run: absolute paths, folders with a slash behind them, or "*"; with USER= before it, for one
	// user alone.
	Allow    []string `toml:"allow"`
	Workdirs []string `toml:"workdirs"` // folders that commands may work in, and below; "*": any
	Cgroup   string   `toml:"cgroup"`   // limits by control groups: auto, required or off

	PidsLimit int `toml:"pids_limit"` // processes and threads per task
	// User is whom tasks run as: a name or number; "submitter": the account of whoever submitted them; empty: the worker's user, or
	// nobody where that is root.
	User string `toml:"user"`
}

// pidsLimit is how many processes and threads a task may have, in a container or outside.
const pidsLimit = 256

func validPidsLimit(r *report, path string, n int) { between(r, path, n, 1, 1<<22) }

var imagePattern = regexp.MustCompile(`^(\*|[A-Za-z0-9][A-Za-z0-9._/:@-]{0,255})$`)

// accountPattern is of names and numbers of users.
var accountPattern = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.@-]{0,63})?$`)

var userPattern = regexp.MustCompile(`^[0-9]{1,9}:[0-9]{1,9}$`)

func (d *Docker) validate(r *report) {
	if d.Host != "" && docker.CheckHost(d.Host) != nil {
		r.add("docker.host", "must be the address of an engine, like unix:///run/docker.sock or tcp://host:2376, found %.80q", d.Host)
	}
	if !userPattern.MatchString(d.User) {
		r.add("docker.user", "must be uid:gid in numbers, found %.80q", d.User)
	}
	validPidsLimit(r, "docker.pids_limit", d.PidsLimit)
	between(r, "docker.tmpfs_mb", d.TmpfsMB, 0, 1<<20)
	seen := newUnique(r)
	for i, name := range d.Images {
		path := index("docker.images", i)
		if image := ofUser(r, path, name); !imagePattern.MatchString(image) {
			r.add(path, `must name an image, or be "*" for any, found %.80q`, name)
		}
		seen.add(path, name)
	}
}

func (p *Process) validate(r *report) {
	seen := newUnique(r)
	for i, program := range p.Allow {
		path := index("process.allow", i)
		if entry := ofUser(r, path, program); !allowsFolder(entry) {
			absoluteProgram(r, path, entry)
		}
		seen.add(path, program)
	}
	seen = newUnique(r)
	for i, folder := range p.Workdirs {
		path := index("process.workdirs", i)
		if folder != anything && (!filepath.IsAbs(folder) || filepath.Clean(folder) != strings.TrimSuffix(folder, "/") && folder != "/") {
			r.add(path, `must be the absolute path of a folder, or "*" for any, found %.80q`, folder)
		}
		seen.add(path, folder)
	}
	oneOf(r, "process.cgroup", p.Cgroup, "auto", "required", "off")
	validPidsLimit(r, "process.pids_limit", p.PidsLimit)
	if !accountPattern.MatchString(p.User) {
		r.add("process.user", "must be the name or number of a user, found %.80q", p.User)
	}
}

// ofUser returns an entry without the user whom alone it is for.
func ofUser(r *report, path, entry string) string {
	user, of := executor.SplitUser(entry)
	if of != entry && (identity.Identity{Role: identity.User, Name: user}).Check() != nil {
		r.add(path, "must have the name of a user before the =, found %.80q", entry)
	}
	return of
}

// anything is the entry that allows all.
const anything = "*"

// allowsFolder reports whether an entry of process.allow is more than a program.
func allowsFolder(entry string) bool {
	return entry == anything || entry == "/" ||
		filepath.IsAbs(entry) && strings.HasSuffix(entry, "/") && filepath.Clean(entry) == strings.TrimSuffix(entry, "/")
}

// allows reports whether process.allow lists a program for everybody, as far as its name tells.
func (p *Process) allows(program string) bool {
	return slices.ContainsFunc(executor.EntriesFor(p.Allow, ""), func(entry string) bool {
		return entry == program || entry == anything || allowsFolder(entry) && strings.HasPrefix(program, entry)
	})
}

func absoluteProgram(r *report, path, program string) {
	if !filepath.IsAbs(program) || filepath.Clean(program) != program {
		r.add(path, "must be the absolute path of a program, found %.80q", program)
	}
}

// validateProgram checks that a type says what its executor has to run.
func (t *TaskType) validateProgram(r *report, path string) {
	oneOf(r, path+".executor", t.Executor, executors...)
	switch {
	case t.Executor == dockerExecutor && t.Image == "":
		r.add(path+".image", "must name the container image that executor docker runs, found nothing")
	case t.Executor != dockerExecutor && t.Image != "":
		r.add(path+".image", "must be left out with executor %q: only docker runs images", t.Executor)
	case t.Executor == processExecutor && len(t.Argv) == 0:
		r.add(path+".argv", "must begin with the program that executor process runs, found nothing")
	case t.Executor == processExecutor:
		absoluteProgram(r, index(path+".argv", 0), t.Argv[0])
	}
}
