package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dodoor/host"
)

const hostExample = `dodoor host up -folder dodoor -host node-1       # what scripts/cluster up does on every host
dodoor host status -folder dodoor -host node-1
dodoor host await -folder dodoor -host node-1 node-2 scheduler-node-2
dodoor host run -folder dodoor -- replay -conf ../cluster.toml -n 500
dodoor host down -folder dodoor -host node-1`

var hostVerbs = []string{"check", "up", "status", "down", "supervise", "answer", "await", "run", "versions"}

// hostCommand is `dodoor host VERB`, the part of scripts/cluster that runs on a host.
type hostCommand struct {
	*options
	verb, folder, name, service, unit string
	listen, dial, hush                bool
	wait                              time.Duration
	stdout                            io.Writer
}

func runHost(args []string, stdout, stderr io.Writer) int {
	o := &hostCommand{stdout: stdout}
	o.options = newOptions("host", "runs the services of this host (up, status, down, supervise one), says what would keep them from it "+
		"(check, answer), which versions are here (versions), waits for names to register (await), runs a command (run)", hostExample, "", stderr)
	o.StringVar(&o.folder, "folder", ".", "`directory` that holds bin/dodoor and cluster.toml, and gets logs and what is noted of services")
	o.StringVar(&o.name, "host", "", "`name` of this host in the inventory")
	o.StringVar(&o.service, "service", "", "supervise: `name` of the service")
	o.StringVar(&o.unit, "unit", "", "supervise: `name` of the systemd unit that runs this, to be seen in status")
	o.BoolVar(&o.listen, "listen", false, "check: have the services' ports answered in the background")
	o.BoolVar(&o.dial, "dial", false, "check: dial every service of the hosts that are named")
	o.BoolVar(&o.hush, "hush", false, "check: end what -listen began")
	o.DurationVar(&o.wait, "wait", 20*time.Second, "up, await, check -listen: `time` until it is as it should be")
	if len(args) == 0 || !slices.Contains(hostVerbs, args[0]) {
		o.Usage()
		if len(args) > 0 && slices.Contains([]string{"-h", "-help", "--help"}, args[0]) {
			return exitDone
		}
		return exitUsage
	}
	o.verb = args[0]
	parse := o.parse
	if slices.Contains([]string{"await", "check", "run"}, o.verb) {
		parse = o.parseFlags // names or a command follow
	}
	if code := parse(args[1:]); code >= 0 {
		return code
	}
	if o.verb == "check" && !o.dial && o.NArg() > 0 {
		return o.fail(exitUsage, fmt.Errorf("unexpected argument %q: hosts go with -dial", o.Arg(0)))
	}
	absolute, err := filepath.Abs(o.folder)
	if err != nil {
		return o.fail(exitUsage, err)
	}
	switch f := host.Folder(absolute); o.verb {
	case "versions":
		return o.concluded(host.Versions(f, stdout))
	case "run":
		return o.command(f)
	default:
		return o.agent(f)
	}
}

func (o *hostCommand) concluded(err error) int {
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

// command runs another command of dodoor.
func (o *hostCommand) command(f host.Folder) int {
	if o.NArg() == 0 {
		return o.fail(exitUsage, errors.New("what to run? as in: dodoor host run -- replay -conf ../cluster.toml"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer onSignals(func(os.Signal) { cancel() })()
	code, err := host.Command(ctx, f, o.Args(), os.Stdin, o.stdout, o.stderr)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return code
}

// agent does what concerns the services of this host.
func (o *hostCommand) agent(f host.Folder) int {
	a := &host.Agent{Folder: f, Host: o.name, Out: o.stdout}
	var err error
	if a.Configuration, err = filepath.Abs(cmp.Or(o.conf, f.Configuration())); err != nil { // services start in the folder
		return o.fail(exitUsage, err)
	}
	if err := a.Read(o.sets); err != nil && !(o.verb == "down" && errors.Is(err, host.ErrNoHost)) {
		return o.fail(exitUsage, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer onSignals(func(os.Signal) { cancel() })()
	switch {
	case o.verb == "up":
		err = a.Up(o.wait)
	case o.verb == "status":
		err = a.Status()
	case o.verb == "down":
		err = a.Down()
	case o.verb == "supervise":
		err = a.Supervise(ctx, o.service, o.unit, o.sets)
	case o.verb == "answer":
		err = a.Answer(ctx)
	case o.verb == "await":
		ctx, cancel := context.WithTimeout(ctx, o.wait)
		defer cancel()
		err = a.Await(ctx, o.Args())
	case o.listen:
		err = a.StartAnswering(ctx, o.wait)
	case o.dial:
		err = a.Reach(ctx, o.Args())
	case o.hush:
		err = a.StopAnswering()
	default:
		err = a.Check()
	}
	if errors.Is(err, host.ErrFinal) {
		return o.fail(exitUsage, err)
	}
	return o.concluded(err)
}
