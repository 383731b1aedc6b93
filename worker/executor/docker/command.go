package docker

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// anyImage is the entry of docker.images that allows all.
const anyImage = "*"

// Allows says why a command may not run for a user here, if so. Whether the image is there is for the engine to say when it runs.
func (d *Executor) Allows(user string, t *cluster.Template) error {
	if err := executor.CheckCommand(t); err != nil {
		return err
	}
	images := executor.EntriesFor(d.cfg.Commands, user)
	switch {
	case len(d.cfg.Commands) == 0:
		return fmt.Errorf("docker.images is empty on worker %s, so it runs no commands in containers", d.cfg.Worker)
	case len(images) == 0:
		return fmt.Errorf("docker.images has nothing for %s on worker %s", executor.Whom(user), d.cfg.Worker)
	case t.Image == "":
		return fmt.Errorf("worker %s runs commands in containers alone (worker.executor): name an image", d.cfg.Worker)
	case !slices.Contains(images, anyImage) && !slices.Contains(images, t.Image):
		return fmt.Errorf("worker %s may not run image %s: docker.images has only %s; add it, or \"*\" for any", d.cfg.Worker, t.Image,
			strings.Join(images, ", "))
	case t.Workdir != "" && !path.IsAbs(t.Workdir):
		return fmt.Errorf("the working folder %.200q must be an absolute path of the container", t.Workdir)
	}
	_, err := scriptArgs(t.Script)
	return err
}

// scriptFlags are what interpreters take a script behind, as an argument: nothing can be written into a container before
// it runs.
var scriptFlags = []struct {
	flag  string
	names []string
}{
	{"-c", []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "python", "python3"}},
	{"-e", []string{"perl", "ruby", "node"}},
}

// scriptArgs is what runs a script in a container, up to its own arguments.
func scriptArgs(script []byte) ([]string, error) {
	if len(script) == 0 {
		return nil, nil
	}
	args := executor.Interpreter(script)
	name := path.Base(args[0])
	for _, of := range scriptFlags {
		if !slices.Contains(of.names, name) {
			continue
		}
		if len(script) > executor.MaxArgument || slices.Contains(script, 0) {
			return nil, fmt.Errorf("a script of %d bytes cannot run in a container: up to %d are possible, and no zero byte", len(script),
				executor.MaxArgument)
		}
		args = append(args, of.flag, string(script))
		if of.flag == "-c" && !strings.HasPrefix(name, "python") {
			args = append(args, "script") // $0
		}
		return args, nil
	}
	return nil, fmt.Errorf("a script of %s cannot run in a container: put it into the image", args[0])
}

// command changes what runs in a container into a task's command.
func (d *Executor) command(c *container.Config, s *worker.Start) error {
	t := s.Command.Template
	script, err := scriptArgs(t.Script)
	if err != nil {
		return err
	}
	args, err := executor.CommandArgs(s.Command)
	if err != nil {
		return err
	}
	if args = append(script, args...); len(args) == 0 || args[0] == "" {
		return errors.New("no program is left once the entries are in their places")
	}
	c.Entrypoint, c.Cmd = args[:1], args[1:] // the first is the program, whatever the image would start
	c.Env, c.WorkingDir = append(executor.CommandEnv(s, d.cfg.Worker), c.Env...), t.Workdir
	c.AttachStdout, c.AttachStderr = true, true
	if len(t.Stdin) > 0 {
		c.AttachStdin, c.OpenStdin, c.StdinOnce = true, true, true
	}
	return nil
}

// engineAway is why there may be more output than arrived.
const engineAway = "the container engine was away while the task ran"

// listen makes the engine hand over what a command prints, and takes its input there. What it returns waits for the end of
// that.
func (x *execution) listen() (finish func(began bool), err error) {
	if x.task.Command == nil {
		return func(bool) {}, nil
	}
	ctx, hangUp := context.WithCancel(context.Background())
	limit := time.AfterFunc(requestLimit, hangUp)
	done, err := x.engine.attach(ctx, x.name, x.task.Command.Template.Stdin, x.capture.Stdout(), x.capture.Stderr())
	if !limit.Stop() && err == nil {
		<-done
		err = noAnswer(requestLimit)
	}
	if err != nil {
		hangUp()
		return nil, err
	}
	return func(began bool) {
		if !began {
			hangUp()
		}
		late := time.AfterFunc(killLimit, hangUp)
		err := <-done
		if !late.Stop() || err != nil || x.resumed { // an engine that ends hangs up in order
			x.capture.Lost(engineAway)
		}
		hangUp()
	}, nil
}
