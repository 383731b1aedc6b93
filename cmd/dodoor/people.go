package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// callTimeout bounds a call that a person waits for.
const callTimeout = 5 * time.Second

// visit connects a person's command to a running cluster: it needs the data service's address alone.
type visit struct {
	c      *conf.Config
	dims   cluster.Dimensions
	cfg    rpc.Config
	ctx    context.Context
	stop   context.CancelFunc
	data   *rpc.DataClient
	status cluster.ClusterStatus
}

// close hangs up.
func (v *visit) close() {
	v.data.Close()
	v.stop()
}

// visitFlags declares how the data service is found.
func (o *options) visitFlags() {
	o.override("datastore", "datastore.address", "`address` of the data service")
}

// connect asks the data service who is there.
func (o *options) connect() (*visit, int) {
	c, log, code := o.configure()
	if code >= 0 {
		return nil, code
	}
	dims, err := c.Dimensions()
	if err != nil {
		return nil, o.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	v := &visit{c: c, dims: dims, cfg: rpcConfig(c, 0), ctx: ctx, stop: stop}
	v.data = rpc.NewDataClient(c.Datastore.DialAddress(), dims, v.cfg)
	limited, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if v.status, err = v.data.Status(limited); err != nil {
		v.close()
		return nil, o.fail(exitFailed, fmt.Errorf("data service at %s: %w (give its address with -datastore)", c.Datastore.DialAddress(), err))
	}
	return v, -1
}

// parseArgument reads flags and then one argument, the name of a task or a worker.
func (o *options) parseArgument(args []string, what string) int {
	if code := o.parseFlags(args); code >= 0 {
		return code
	}
	usage := fmt.Sprintf("usage: %s [flags] %s", o.Name(), strings.ToUpper(what))
	switch {
	case o.NArg() == 0 || o.Arg(0) == "":
		return o.fail(exitUsage, fmt.Errorf("which %s? %s", what, usage))
	case o.NArg() > 1:
		return o.fail(exitUsage, fmt.Errorf("unexpected argument %q: one %s, and flags before it; %s", o.Arg(1), what, usage))
	}
	return -1
}

func (v *visit) scheduler(address string) *rpc.SchedulerClient {
	return rpc.NewSchedulerClient(address, v.dims, v.cfg)
}

func runNodes(args []string, stdout, stderr io.Writer) int {
	o := newOptions("nodes", "lists the workers of a running cluster, with what each holds", "dodoor nodes -datastore 127.0.0.1:20510", "local", stderr)
	o.visitFlags()
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
		running, queued := 0, 0
		if n.Report != nil {
			running, queued = n.Report.Running, n.Report.Queued
		}
		t.AppendRow(table.Row{n.Node.Name, n.Node.Class, n.Node.Address, v.dims.Describe(n.Node.Capacity), v.dims.Describe(n.Load.Demand),
			running, queued, time.Duration(n.Load.Duration) * time.Millisecond, state, n.Heard.Round(time.Millisecond).String() + " ago"})
	}
	fmt.Fprintln(stdout, t.Render())
	fmt.Fprintf(stdout, "%s, %s, %s\n", count(len(v.status.Nodes), "worker", "workers"), count(len(v.status.Schedulers), "scheduler", "schedulers"),
		count(v.status.Decisions, "scheduling decision", "scheduling decisions"))
	return exitDone
}

func runDrain(args []string, _, stderr io.Writer) int {
	o := newOptions("drain", "makes a worker refuse new tasks (what it holds goes on), or with -off take them again", "dodoor drain m510-3\ndodoor drain -off m510-3", "local", stderr)
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
			client := rpc.NewWorkerClient(n.Address, v.dims, v.cfg)
			defer client.Close()
			if err := client.Drain(v.ctx, !*off); err != nil {
				return o.fail(exitFailed, err)
			}
			return exitDone
		}
	}
	return o.fail(exitFailed, fmt.Errorf("no worker is called %q; see dodoor nodes", o.Arg(0)))
}

func runCancel(args []string, stdout, stderr io.Writer) int {
	o := newOptions("cancel", "cancels a task, wherever it is", "dodoor cancel my-task", "local", stderr)
	o.visitFlags()
	if code := o.parseArgument(args, "task"); code >= 0 {
		return code
	}
	v, code := o.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	var failures []error
	for _, s := range v.status.Schedulers {
		client := v.scheduler(s.Address)
		found, err := client.Cancel(v.ctx, o.Arg(0))
		client.Close()
		if found {
			fmt.Fprintf(stdout, "%s is being cancelled by %s\n", o.Arg(0), s.Name)
			return exitDone
		}
		failures = append(failures, err)
	}
	if err := errors.Join(failures...); err != nil {
		return o.fail(exitFailed, err)
	}
	return o.fail(exitFailed, fmt.Errorf("no scheduler has an unfinished task %q", o.Arg(0)))
}

// schedulerName finds a scheduler's name by its address.
func schedulerName(known []cluster.SchedulerRef, address string, i int) string {
	for _, s := range known {
		if s.Address == address {
			return s.Name
		}
	}
	return fmt.Sprintf("scheduler-%d@%s", i+1, address)
}
