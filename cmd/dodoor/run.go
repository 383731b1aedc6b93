package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"dodoor/client"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/localcluster"
)

const runExample = `dodoor run -- gzip -k {} ::: *.log              # on this machine: as many at a time as it has cores
dodoor run -j 16 -tag -- ping -c 1 {} :::: hosts.txt
dodoor run -k -- echo {1} {2} {#} ::: a b ::: 1 2   # every combination, printed in order
dodoor run -script job.sh -array 1-100
dodoor run -cluster lab -each-line urls.txt -out pages -- curl -sS {}

In the command, {} is a task's entry, {.} that without its extension, {/} its file name, {//} its folder, {/.} its file name
without extension, {#} the task's number; {2} and {2/.} are about the second list. Without any of them the entry goes to the end.
Lists: ::: ENTRY...  :::: FILE... (an entry per line)  -each-line FILE. Of several lists every combination runs; :::+ and ::::+
go in step with the list before them. Tasks see DODOOR_JOB, DODOOR_TASK_ID, DODOOR_INDEX, DODOOR_ENTRY, DODOOR_NODE,
DODOOR_CORES and DODOOR_MEMORY_MB. Without a cluster (-cluster, -datastore, -conf, $DODOOR_CLUSTER, or the default one) the job
runs on this machine, in this folder and environment. Ctrl-C cancels it, a second one ends at once.
Exit code: 0 when every task exited with 0, 1 when some did not, 2 for wrong usage.`

func runRun(args []string, stdout, stderr io.Writer) int {
	var parallel int
	declare := func() *jobFlags {
		o := newOptions("run", "runs a command once, or once per entry of a list, prints what it prints, and waits for its end", runExample,
			"local", stderr)
		o.visitFlags()
		o.IntVar(&parallel, "j", 0, "on this machine: tasks at a time; 0: one per core")
		f := o.declareJob()
		o.attendFlags(&f.printing)
		return f
	}
	f, script, code := parseJob(declare, args)
	if code >= 0 {
		return code
	}
	if err := cmp.Or(f.check(), f.choose()); err != nil {
		return f.fail(exitUsage, err)
	}
	f.visits = false // which cluster it is has been chosen
	if f.byConf() || f.addressed() || len(f.only) > 0 {
		if parallel != 0 {
			return f.fail(exitUsage, errors.New("-j is for this machine: how many tasks run at a time on a cluster, its workers decide"))
		}
		return f.runThere(script, stdout)
	}
	return f.runHere(parallel, script, stdout)
}

// runThere runs the job on a cluster.
func (f *jobFlags) runThere(script []byte, stdout io.Writer) int {
	return f.there(script, stdout, func(v *visit, c *client.Cluster, s *client.Submission) int {
		v.stop() // signals are about the job now
		by, stop := f.interrupts(s.Job.ID, func() {})
		defer stop()
		return f.attend(context.Background(), c, s, by, stdout)
	})
}

// there connects to a cluster that would run the job, and has it submitted.
func (f *jobFlags) there(script []byte, stdout io.Writer, submit func(*visit, *client.Cluster, *client.Submission) int) int {
	s, code := f.remote(script, stdout)
	if code >= 0 {
		return code
	}
	v, code := f.connect()
	if code >= 0 {
		return code
	}
	defer v.close()
	c := v.client()
	defer c.Close()
	if err := c.Permitted(v.ctx, s.Plan); err != nil {
		return f.fail(exitFailed, err)
	}
	return submit(v, c, s)
}

// remote is the submission that the command line asks for, of a cluster; the int is the exit code to stop with, or -1.
func (f *jobFlags) remote(script []byte, stdout io.Writer) (*client.Submission, int) {
	if f.cwd != "" && !filepath.IsAbs(f.cwd) {
		return nil, f.fail(exitUsage, fmt.Errorf("-cwd %s: it is a folder of the workers' hosts: give its absolute path", f.cwd))
	}
	t, err := f.template(script)
	if err != nil {
		return nil, f.fail(exitUsage, err)
	}
	return f.submission(t, 1000, stdout)
}

// submission is a job of a template; without -cores a task demands so many millicores.
func (f *jobFlags) submission(t cluster.Template, millicores int64, stdout io.Writer) (*client.Submission, int) {
	figures, err := f.figures(millicores)
	if err != nil {
		return nil, f.fail(exitUsage, err)
	}
	p, err := f.plan(t, figures)
	if err != nil {
		return nil, f.fail(exitUsage, err)
	}
	if f.printing.code && p.Len() != 1 {
		return nil, f.fail(exitUsage, fmt.Errorf("-exit-code is for one task, and there are %d", p.Len()))
	}
	if f.dryRun {
		if err := f.printPlan(p, stdout); err != nil {
			return nil, f.fail(exitFailed, err)
		}
		return nil, exitDone
	}
	return &client.Submission{Plan: p, Job: f.job(p), AtMostOnce: f.once}, -1
}

// runHere runs the job on a cluster of its own, in this process, which is gone afterwards.
func (f *jobFlags) runHere(parallel int, script []byte, stdout io.Writer) (code int) {
	if len(f.sets) > 0 {
		return f.fail(exitUsage, errors.New("-set and -log-level are for a cluster, and this run has one of its own"))
	}
	if parallel < 0 {
		return f.fail(exitUsage, fmt.Errorf("-j %d: it must be at least 1, or 0 for one per core", parallel))
	}
	machine, err := localcluster.Machine()
	if err != nil {
		return f.fail(exitFailed, err)
	}
	limits := f.cores > 0 || f.memory > 0 || f.autoCores || f.autoMemory
	own := localcluster.Own{Slots: cmp.Or(parallel, max(1, int(machine.Cores))), Limits: limits, Images: f.image != ""}
	t, err := f.template(script)
	if err != nil {
		return f.fail(exitUsage, err)
	}
	if f.image == "" {
		t.Env = append(os.Environ(), t.Env...)
		if t.Workdir, err = filepath.Abs(f.cwd); err != nil {
			return f.fail(exitFailed, err)
		}
	}
	s, code := f.submission(t, max(1, int64(machine.Cores*1000)/int64(own.Slots)), stdout)
	if code >= 0 {
		return code
	}
	var sweep sync.WaitGroup
	sweep.Go(localcluster.SweepFolders)
	defer sweep.Wait()
	made := make(chan struct{})
	remove := func() {
		select {
		case <-made:
			os.RemoveAll(own.Folder)
		default:
		}
	}
	by, stop := f.interrupts(s.Job.ID, remove)
	defer stop()
	if own.Folder, err = localcluster.MakeFolder(); err != nil {
		return f.fail(exitFailed, err)
	}
	close(made)
	defer remove()
	c := own.Config(machine)
	s.Window = c.Worker.MaxQueue / 2
	level := new(slog.LevelVar)
	if level.Set(slog.LevelError); limits {
		level.Set(slog.LevelWarn) // that there can be none is said at the start
	}
	l, err := localcluster.StartOwn(context.Background(), c, slog.New(slog.NewTextHandler(f.stderr, &slog.HandlerOptions{Level: level})))
	if err != nil {
		return f.fail(exitFailed, err)
	}
	defer l.Stop()
	level.Set(slog.LevelError)
	ctx, done := l.While(context.Background())
	defer done()
	there := &client.Cluster{Schedulers: l.Schedulers, Nodes: l.Nodes, Connect: func(_, address string) client.Worker {
		return l.Worker(address)
	}}
	defer there.Close()
	if err := there.Permitted(ctx, s.Plan); err != nil {
		return f.fail(exitFailed, err)
	}
	return f.attend(ctx, there, s, by, stdout)
}

// asking is the cluster for whoever asks what there is: what is with a scheduler that is absent is missing from it.
func (v *visit) asking() *client.Cluster {
	c := v.client()
	c.Absent = v.absent
	return c
}

// client is the cluster as jobs see it.
func (v *visit) client() *client.Cluster {
	c := &client.Cluster{
		News: v.tell,
		Nodes: func(ctx context.Context) ([]cluster.NodeStatus, error) {
			status, err := v.look(ctx)
			return status.Nodes, err
		},
		Connect: func(name, address string) client.Worker { return rpc.NewWorkerClient(address, v.dims, v.cfg.To(name)) },
		Join: func(s cluster.SchedulerRef) session.Target {
			service := v.scheduler(s)
			return session.Target{Name: s.Name, Address: s.Address, Service: service, Close: service.Close}
		},
	}
	if v.data != nil {
		c.Listed = func(ctx context.Context) ([]cluster.SchedulerRef, error) {
			status, err := v.asked(ctx)
			return status.Schedulers, err
		}
	}
	for _, s := range v.status.Schedulers {
		c.Schedulers = append(c.Schedulers, c.Join(s))
	}
	return c
}
