package main

import (
	"errors"
	"io"
	"syscall"

	"dodoor/assemble"
	"dodoor/conf"
)

func runDatastore(args []string, _, stderr io.Writer) int {
	o := newOptions("datastore", "runs the data service until SIGINT or SIGTERM",
		"dodoor datastore -conf conf/single.toml -http 127.0.0.1:8010", "local", stderr)
	o.override("listen", "datastore.listen", "`address` to serve on")
	return runService(o, args, conf.RoleDatastore)
}

func runScheduler(args []string, _, stderr io.Writer) int {
	o := newOptions("scheduler", "runs one scheduler replica until SIGINT or SIGTERM, then drains",
		"dodoor scheduler -conf conf/single.toml -name scheduler-2 -listen 127.0.0.1:20504", "local", stderr)
	o.override("listen", "scheduler.listen", "`address` to serve on")
	o.override("name", "scheduler.name", "`name` of this replica")
	o.override("policy", "scheduler.policy", "placement `policy`")
	o.override("datastore", "datastore.address", "`address` of the data service")
	return runService(o, args, conf.RoleScheduler)
}

func runWorker(args []string, _, stderr io.Writer) int {
	o := newOptions("worker", "runs one worker until SIGINT or SIGTERM, then drains",
		"dodoor worker -conf conf/single.toml -name worker-2 -class laptop -listen 127.0.0.1:20502", "local", stderr)
	o.override("listen", "worker.listen", "`address` to serve on")
	o.override("name", "worker.name", "`name` of this node")
	o.override("class", "worker.class", "node `class`: one of the configuration's [[class]] tables")
	o.override("datastore", "datastore.address", "`address` of the data service")
	return runService(o, args, conf.RoleWorker)
}

// runService runs one service in the foreground, with its HTTP pages beside it.
func runService(o *options, args []string, role string) int {
	o.override("http", "http.listen", "`address` for /metrics, /healthz and /readyz")
	o.typesFlag()
	o.serves = true
	as := o.String("as", "", "which `service` of the inventory this is: where it listens, its name and class follow from its host's")
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	ctx, stop := interruptible(log)
	defer stop()
	switch served, err := assemble.Serve(ctx, c, role, assemble.Site{Log: log, Service: *as}); {
	case !served && !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, assemble.ErrBundle):
		return o.fail(exitUsage, err) // but an address may come with the network, soon after boot, and a certificate with its renewal
	case err != nil:
		return o.fail(exitFailed, err)
	}
	return exitDone
}
