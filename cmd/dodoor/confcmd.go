package main

import (
	"fmt"
	"io"
	"slices"

	"dodoor/assemble"
	"dodoor/conf"
)

const confExample = `dodoor conf check conf/paper.toml
dodoor conf show paper -set score.alpha=0.3
dodoor conf check docker -types out/types.toml
dodoor conf hosts cluster-example
dodoor conf cloudlab manifest.xml >cluster.toml
dodoor conf clusters`

// runConf is `dodoor conf check|show|hosts|cloudlab FILE` and `dodoor conf clusters`.
func runConf(args []string, stdout, stderr io.Writer) int {
	o := newOptions("conf", "validates a configuration (check FILE), prints it with all defaults (show FILE), lists its hosts (hosts FILE), "+
		"makes an inventory of CloudLab's manifest (cloudlab FILE), or lists the clusters that -cluster knows (clusters)", confExample,
		"local", stderr)
	asJSON := o.Bool("json", false, "hosts: as JSON")
	plain := o.Bool("plain", false, "hosts: a line each, fields by tabs, for scripts")
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
	if verb != "clusters" && len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		args = append([]string{"-conf"}, args...)
	}
	if !slices.Contains([]string{"check", "show", "hosts", "cloudlab", "clusters"}, verb) {
		return o.fail(exitUsage, fmt.Errorf("no verb is called %q: it is check, show, hosts, cloudlab or clusters", verb))
	}
	if code := o.parse(args); code >= 0 {
		return code
	}
	switch verb {
	case "cloudlab":
		return o.fromCloudLab(stdout)
	case "clusters":
		return o.printClusters(stdout)
	}
	c, err := conf.Load(o.conf, o.sets, o.types...)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	switch verb {
	case "hosts":
		return o.printHosts(c, stdout, *asJSON, *plain)
	case "show":
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
	if err := assemble.CheckPolicy(c, false); err != nil {
		fmt.Fprintln(stdout, "warning: scheduler.policy:", err)
	}
	fmt.Fprintf(stdout, "%s is valid: %s in %s, %s, policy %s%s\n", o.conf, count(c.Workers(), "worker", "workers"),
		count(len(c.Classes), "class", "classes"), count(len(c.Types), "task type", "task types"), c.Scheduler.Policy, hostsIn(c))
	return exitDone
}

// count is a number of things in words.
func count[N int | int64](n N, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// hostsIn says how many hosts an inventory has, and that some of them bring a class that nothing else knows yet.
func hostsIn(c *conf.Config) string {
	auto := 0
	for _, h := range c.Hosts {
		if h.Class == conf.AutoClass {
			auto++
		}
	}
	switch {
	case len(c.Hosts) == 0:
		return ""
	case auto == 0:
		return ", " + count(len(c.Hosts), "host", "hosts")
	}
	return fmt.Sprintf(", %s; local and simulate leave out %d of class %s", count(len(c.Hosts), "host", "hosts"), auto, conf.AutoClass)
}
