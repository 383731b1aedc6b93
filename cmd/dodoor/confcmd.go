package main

import (
	"fmt"
	"io"

	"dodoor/conf"
)

const confExample = `dodoor conf check conf/paper.toml
dodoor conf show paper -set score.alpha=0.3
dodoor conf check docker -types out/types.toml`

// runConf is `dodoor conf check|show FILE`.
func runConf(args []string, stdout, stderr io.Writer) int {
	o := newOptions("conf", "validates a configuration (check FILE), or prints it with all defaults (show FILE)", confExample, "local", stderr)
	o.typesFlag()
	if len(args) == 0 {
		o.Usage()
		return exitUsage
	}
	verb, args := args[0], args[1:]
	if verb == "-h" || verb == "-help" || verb == "--help" {
		o.Usage()
		return exitDone
	}
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		args = append([]string{"-conf"}, args...)
	}
	if verb != "check" && verb != "show" {
		return o.fail(exitUsage, fmt.Errorf("no verb is called %q: it is check or show", verb))
	}
	if code := o.parse(args); code >= 0 {
		return code
	}
	c, err := conf.Load(o.conf, o.sets, o.types...)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	if err := checkPolicy(c, onLocal); err != nil {
		return o.fail(exitUsage, err)
	}
	if verb == "show" {
		text, err := c.Marshal()
		if err != nil {
			return o.fail(exitFailed, err)
		}
		stdout.Write(text)
		return exitDone
	}
	for _, warning := range c.Warnings() {
		fmt.Fprintln(stdout, "warning:", warning)
	}
	fmt.Fprintf(stdout, "%s is valid: %s in %s, %s, policy %s\n", o.conf, count(workers(c), "worker", "workers"), count(len(c.Classes), "class", "classes"),
		count(len(c.Types), "task type", "task types"), c.Scheduler.Policy)
	return exitDone
}

// count is a number of things in words.
func count[N int | int64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

func workers(c *conf.Config) int {
	n := 0
	for _, class := range c.Classes {
		n += class.Count
	}
	return n
}
