package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor"
)

// What a task finds in its folder when it brings a script.
const scriptFile = "script"

// program returns what runs as a task, in a folder of its own that is not the task's yet. It fails with lacking beneath when this
// machine lacks something; otherwise the command is at fault.
func (p *rules) program(s *worker.Start, dir *os.File, c *executor.Capture) (*procgroup.Program, error) {
	folder := dir.Name()
	mark := "TMPDIR=" + folder
	program := &procgroup.Program{Dir: folder, Mark: mark, Output: c.Stdout(), User: p.user}
	if s.Command == nil {
		program.Path, program.Args = s.Argv[0], s.Argv[1:]
		program.Env = slices.Concat(p.user.Env(), executor.DeviceEnv(s, false), []string{mark, "HOME=" + folder})
		return program, nil
	}
	t := s.Command.Template
	argv, err := executor.CommandArgs(s.Command)
	if err != nil {
		return nil, err
	}
	if len(t.Script) > 0 {
		file, err := p.fileOf(t.Script, dir, scriptFile)
		if err != nil {
			return nil, lacking{err}
		}
		path := file.Name()
		if err := file.Close(); err != nil {
			return nil, lacking{err}
		}
		argv = append(append(executor.Interpreter(t.Script), path), argv...)
	}
	if len(argv) == 0 {
		return nil, errors.New("no program is left once the entries are in their places")
	}
	if err := p.allowsEnv(t.Env); err != nil {
		return nil, err
	}
	workdir := ""
	if t.Workdir != "" {
		err = p.user.Do(func() (err error) {
			workdir, err = p.allowsWorkdir(t.Workdir)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	path, err := p.find(t, workdir, argv[0])
	if err != nil {
		return nil, err
	}
	if workdir != "" {
		program.Dir = workdir
	}
	program.Path, program.Args, program.Errors = path, argv[1:], c.Stderr()
	program.Env = slices.Concat([]string{"HOME=" + folder}, p.user.Env(), executor.CommandEnv(s, p.cfg.Worker),
		executor.DeviceEnv(s, false), []string{mark})
	if len(t.Stdin) > 0 {
		program.Input, err = p.inputOf(t.Stdin, dir)
	}
	return program, err
}

// fileOf makes a file of the task's in its folder. It is given by what is open, never by its path.
func (p *rules) fileOf(text []byte, dir *os.File, name string) (*os.File, error) {
	file, err := create(dir, name)
	if err != nil {
		return nil, err
	}
	if err = p.user.Give(file); err == nil {
		_, err = file.Write(text)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// inputOf returns a file without a name that holds a task's standard input.
func (p *rules) inputOf(text []byte, dir *os.File) (*os.File, error) {
	const name = "stdin"
	file, err := p.fileOf(text, dir, name)
	if err != nil {
		return nil, lacking{err}
	}
	if err = unix.Unlinkat(int(dir.Fd()), name, 0); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, lacking{err}
	}
	return file, nil
}

// lacking is the error of a machine that cannot begin a task now, whichever.
type lacking struct{ error }

// notPrepared is the result of a task whose program was not started.
func (p *Executor) notPrepared(err error) worker.Result {
	if errors.As(err, new(lacking)) {
		return executor.Lost(fmt.Errorf("worker %s cannot prepare the task: %w", p.cfg.Worker, err))
	}
	return executor.Failed(executor.NoExitCode, err)
}
