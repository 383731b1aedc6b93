package executor

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"dodoor/internal/cluster"
	"dodoor/internal/placeholder"
	"dodoor/worker"
)

// CommandArgs returns the arguments of a task's command, with its entry in the place of {} and its like. They begin with the
// program, but for a script.
func CommandArgs(c *cluster.Command) ([]string, error) {
	argv := placeholder.Expand(c.Template.Argv, c.Index, c.Entries)
	if err := checkText("entry", c.Entries); err != nil {
		return nil, err
	}
	return argv, checkText("argument", argv)
}

// MaxArgument is how many bytes the kernel takes as one argument or variable.
const MaxArgument = 128<<10 - 1

// Varies reports whether an argument is another one for every task.
func Varies(argument string) bool { return placeholder.Any([]string{argument}) }

// defaultInterpreter runs scripts that do not begin with #!.
const defaultInterpreter = "/bin/sh"

// Interpreter returns the program of a script's first line, and its argument if it has one: the kernel's rule. Of env, the
// program that it would run.
func Interpreter(script []byte) []string {
	line, _, _ := bytes.Cut(script, []byte("\n"))
	rest, found := bytes.CutPrefix(line, []byte("#!"))
	program, argument := strings.Trim(string(rest), " \t\r"), ""
	if blank := strings.IndexAny(program, " \t"); blank >= 0 {
		program, argument = program[:blank], strings.Trim(program[blank:], " \t")
	}
	switch {
	case !found || program == "":
		return []string{defaultInterpreter}
	case program == "/usr/bin/env" && argument != "" && !strings.ContainsAny(argument, "-= \t"):
		return []string{argument}
	case argument == "":
		return []string{program}
	}
	return []string{program, argument}
}

// CommandEnv returns what the environment of a command says beyond the least: what its template does, and about the task,
// on a worker; of devices, DeviceEnv does. Of the same name the last counts.
func CommandEnv(s *worker.Start, on string) []string {
	c := s.Command
	env := make([]string, 0, len(c.Template.Env)+9)
	if !given(c.Template.Env, "LC_ALL") && locale(c.Template.Env) {
		env = append(env, "LC_ALL=") // which would overrule it
	}
	env = append(env, withoutDevices(s, c.Template.Env)...)
	if entry := "DODOOR_ENTRY=" + strings.Join(c.Entries, " "); len(entry) <= MaxArgument {
		env = append(env, entry)
	}
	return append(env,
		"DODOOR_JOB="+c.Job, "DODOOR_TASK_ID="+s.TaskID, "DODOOR_INDEX="+strconv.FormatInt(c.Index, 10), "DODOOR_NODE="+on,
		"DODOOR_CORES="+strconv.FormatFloat(float64(s.Shape.Demand[cluster.Cores])/1000, 'f', -1, 64),
		"DODOOR_MEMORY_MB="+strconv.FormatInt(s.Shape.Demand[cluster.Memory], 10))
}

// given reports whether an environment has a variable.
func given(env []string, name string) bool {
	_, found := Variable(env, name)
	return found
}

// Variable returns the value of a variable in an environment: the last one.
func Variable(env []string, name string) (value string, found bool) {
	for _, variable := range env {
		if v, is := strings.CutPrefix(variable, name+"="); is {
			value, found = v, true
		}
	}
	return value, found
}

// locale reports whether an environment chooses a language.
func locale(env []string) bool {
	for _, variable := range env {
		if strings.HasPrefix(variable, "LANG=") || strings.HasPrefix(variable, "LC_") {
			return true
		}
	}
	return false
}

// checkText fails for what no program can be given.
func checkText(what string, all []string) error {
	for _, text := range all {
		if strings.IndexByte(text, 0) >= 0 {
			return fmt.Errorf("%s %.80q has a zero byte, which no program can be given", what, text)
		}
		if len(text) > MaxArgument {
			return fmt.Errorf("%s %.80q has %d bytes, and no program can be given more than %d as one: use standard input or a file", what, text,
				len(text), MaxArgument)
		}
	}
	return nil
}

// CheckCommand fails for a template that cannot run anywhere.
func CheckCommand(t *cluster.Template) error {
	if err := t.Check(); err != nil {
		return err
	}
	if err := checkText("argument", t.Argv); err != nil {
		return err
	}
	for _, variable := range t.Env {
		if name, _, found := strings.Cut(variable, "="); !found || name == "" {
			return fmt.Errorf("the environment has %.80q: NAME=VALUE is needed", variable)
		}
	}
	return checkText("variable", t.Env)
}
