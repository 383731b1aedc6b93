package main

import (
	"fmt"
	"io"

	"dodoor/conf"
)

const confExample = `dodoor conf check conf/paper.toml
dodoor conf show paper -set score.alpha=0.3`

// runConf is `dodoor conf check|show FILE`.
func runConf(args []string, stdout, stderr io.Writer) int {
	o := newOptions("conf", "validates a configuration (check FILE), or prints it with all defaults (show FILE)", confExample, "local", stderr)
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
	c, err := conf.Load(o.conf, o.sets)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	if err := checkPolicy(c); err != nil {
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
	fmt.Fprintf(stdout, "%s is valid: %d workers in %d classes, %d task types, policy %s\n", o.conf, workers(c), len(c.Classes), len(c.Types), c.Scheduler.Policy)
	return exitDone
}

func workers(c *conf.Config) int {
	n := 0
	for _, class := range c.Classes {
		n += class.Count
	}
	return n
}
