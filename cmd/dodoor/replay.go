package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dodoor/generator/drive"
	"dodoor/internal/rpc"
	"dodoor/report"
)

const replayExample = `dodoor replay -conf conf/single.toml -trace azure -n 50 -warmup 0 -qps 1
dodoor replay -schedulers 10.0.0.1:20503,10.0.0.2:20503 -trace trace.csv -out out/mine`

// runReplay is `dodoor replay`: the generator alone, against running schedulers.
func runReplay(args []string, stdout, stderr io.Writer) int {
	o := newOptions("replay", "replays a trace against running schedulers and prints the summary", replayExample, "local", stderr)
	o.replayFlags()
	o.override("datastore", "datastore.address", "`address` of the data service")
	o.listOverride("schedulers", "generator.schedulers", "comma-separated `addresses`; without any, those that the data service knows")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	// Services remember earlier runs' task ids for a while, so every replay has its own.
	workload, err := newWorkload(c, fmt.Sprintf("r%x-", time.Now().UnixNano()))
	if err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := signalled(log)
	defer stop()
	dims, err := c.Dimensions()
	if err != nil {
		return o.fail(exitUsage, err)
	}
	cfg := generatorRPC(c)
	data := rpc.NewDataClient(c.Datastore.DialAddress(), dims, cfg)
	defer data.Close()
	look, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	status, err := data.Status(look)
	if err != nil {
		return o.fail(exitFailed, fmt.Errorf("data service at %s: %w", c.Datastore.DialAddress(), err))
	}
	addresses := c.Generator.Schedulers
	if len(addresses) == 0 {
		for _, s := range status.Schedulers {
			addresses = append(addresses, s.Address)
		}
	}
	if len(addresses) == 0 {
		return o.fail(exitFailed, errors.New("no scheduler is registered with the data service: start one, or name some with -schedulers"))
	}
	r := replay{c: c, log: log, on: onCluster, dir: runDir(c), quiet: print.quiet, config: drive.Config{Workload: workload, Data: data}}
	for i, address := range addresses {
		client := rpc.NewSchedulerClient(address, dims, cfg)
		defer client.Close()
		r.config.Schedulers = append(r.config.Schedulers, drive.Target{Name: schedulerName(status.Schedulers, address, i), Service: client})
	}
	if err := r.prepare(); err != nil {
		return o.fail(exitUsage, err)
	}
	defer r.tidy()
	code, err = r.run(ctx, nodesOf(status))
	return r.finish(o, print, stdout, code, err)
}

// outputFlags choose how a summary is printed.
type outputFlags struct{ json, quiet bool }

func (o *options) outputFlags() *outputFlags {
	f := &outputFlags{}
	o.BoolVar(&f.json, "json", false, "print the summary as JSON")
	o.BoolVar(&f.quiet, "quiet", false, "no progress bar")
	return f
}

func (f *outputFlags) summary(w io.Writer, s *report.Summary, dir string) error {
	if f.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	if err := s.Print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "rows         %s\n", dir)
	return err
}
