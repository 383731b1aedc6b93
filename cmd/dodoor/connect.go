package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/assemble"
	"dodoor/client"
	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// visit connects a command to a running cluster: it needs the address of the data service, or those of schedulers.
type visit struct {
	c      *conf.Config
	dims   cluster.Dimensions
	cfg    rpc.Config
	ctx    context.Context
	stop   context.CancelFunc
	data   *rpc.DataClient // nil: schedulers alone are asked
	silent bool            // the data service did not answer, and schedulers are asked instead
	given  []cluster.SchedulerRef
	absent []client.Absent // that were there when the data service was asked before
	stderr io.Writer
	status cluster.ClusterStatus
}

// close hangs up.
func (v *visit) close() {
	if v.data != nil {
		v.data.Close()
	}
	v.stop()
}

// tell says for whom a submission waits, and that it does no longer.
func (v *visit) tell(n *generator.News) {
	switch n.What {
	case generator.Waited:
		fmt.Fprintf(v.stderr, "waiting for scheduler %s at %s, which keeps what it accepted (%v)\n", n.Scheduler, n.Address, n.Err)
	case generator.Back:
		fmt.Fprintf(v.stderr, "scheduler %s at %s answers again\n", n.Scheduler, n.Address)
	}
}

// connect asks who is there.
func (o *options) connect() (*visit, int) {
	c, log, code := o.configure()
	if code >= 0 {
		return nil, code
	}
	dims, err := c.Dimensions()
	if err != nil {
		return nil, o.fail(exitUsage, err)
	}
	cfg, err := assemble.RPC(c, nil, "")
	if err != nil {
		return nil, o.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	v := &visit{c: c, dims: dims, cfg: cfg, ctx: ctx, stop: stop, stderr: o.stderr}
	if err := v.find(o); err != nil {
		v.close()
		return nil, o.fail(exitFailed, err)
	}
	return v, -1
}

// parseArgument reads one argument, the name of a job, a task or a worker, with flags before or behind it.
func (o *options) parseArgument(args []string, what string) int {
	if code := o.parseFlags(args); code >= 0 {
		return code
	}
	if o.NArg() > 1 && strings.HasPrefix(o.Arg(1), "-") {
		if code := o.parseFlags(append(slices.Clone(o.Args()[1:]), o.Arg(0))); code >= 0 {
			return code
		}
	}
	usage := fmt.Sprintf("usage: %s [flags] %s", o.Name(), strings.ReplaceAll(strings.ToUpper(what), " OR ", " or "))
	switch {
	case o.NArg() == 0 || o.Arg(0) == "":
		return o.fail(exitUsage, fmt.Errorf("which %s? %s", what, usage))
	case o.NArg() > 1:
		return o.fail(exitUsage, fmt.Errorf("unexpected argument %q: one %s, and flags before it; %s", o.Arg(1), what, usage))
	}
	return -1
}

// scheduler connects to one, which is called by its address where nobody knows its name.
func (v *visit) scheduler(ref cluster.SchedulerRef) *rpc.SchedulerClient {
	cfg := v.cfg
	if ref.Name != ref.Address {
		cfg = cfg.To(ref.Name)
	}
	return rpc.NewSchedulerClient(ref.Address, v.dims, cfg)
}

func runNodes(args []string, stdout, stderr io.Writer) int {
	o := newOptions("nodes", "lists the workers of a running cluster, with what each holds",
		"dodoor nodes -datastore 127.0.0.1:20510\ndodoor nodes -cluster lab", "local", stderr)
	o.visitFlags()
	plain := o.Bool("plain", false, "a line each, fields by tabs, for scripts: name, class, address, state")
	if code := o.parse(args); code >= 0 {
		return code
	}
	v, code := o.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"worker", "class", "address", "capacity", "demand", "running", "queued", "pending", "state", "heard"})
	for i := range v.status.Nodes {
		n := &v.status.Nodes[i]
		state := "open"
		if n.Node.Draining {
			state = "draining"
		}
		if *plain {
			fmt.Fprintln(stdout, strings.Join([]string{n.Node.Name, n.Node.Class, n.Node.Address, state}, "\t"))
		}
		running, queued := 0, 0
		if n.Report != nil {
			running, queued = n.Report.Running, n.Report.Queued
		}
		t.AppendRow(table.Row{n.Node.Name, n.Node.Class, n.Node.Address, v.dims.Describe(n.Node.Capacity), v.dims.Describe(n.Load.Demand),
			running, queued, time.Duration(n.Load.Duration) * time.Millisecond, state, n.Heard.Round(time.Millisecond).String() + " ago"})
	}
	if at := v.exposed(); at != "" {
		fmt.Fprintf(stderr, "%s: plaintext: whoever reaches %s may do anything (security.insecure)\n", o.Name(), at)
	}
	if *plain {
		return exitDone
	}
	fmt.Fprintln(stdout, t.Render())
	fmt.Fprintf(stdout, "%s, %s, %s\n", count(len(v.status.Nodes), "worker", "workers"),
		count(len(v.status.Schedulers), "scheduler", "schedulers"),
		count(v.status.Decisions, "scheduling decision", "scheduling decisions"))
	return exitDone
}

// exposed is an address of the cluster that other machines reach in plaintext, as this command did; "": there is none.
func (v *visit) exposed() string {
	if v.cfg.Bundle != nil {
		return ""
	}
	for i := range v.status.Nodes {
		if at := v.status.Nodes[i].Node.Address; !conf.Loopback(at) {
			return at
		}
	}
	for _, s := range v.status.Schedulers {
		if !conf.Loopback(s.Address) {
			return s.Address
		}
	}
	return ""
}

func runDrain(args []string, _, stderr io.Writer) int {
	o := newOptions("drain", "makes a worker refuse new tasks (what it holds goes on), or with -off take them again",
		"dodoor drain m510-3\ndodoor drain -off -cluster lab m510-3", "local", stderr)
	o.visitFlags()
	off := o.Bool("off", false, "take tasks again")
	if code := o.parseArgument(args, "worker"); code >= 0 {
		return code
	}
	v, code := o.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	for i := range v.status.Nodes {
		if n := &v.status.Nodes[i].Node; n.Name == o.Arg(0) {
			client := rpc.NewWorkerClient(n.Address, v.dims, v.cfg.To(n.Name))
			defer client.Close()
			if err := client.Drain(v.ctx, !*off); err != nil {
				return o.fail(exitFailed, err)
			}
			return exitDone
		}
	}
	return o.fail(exitFailed, fmt.Errorf("no worker is called %q; see %s", o.Arg(0), o.again("nodes")))
}
