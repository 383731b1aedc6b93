package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"dodoor/experiment"
)

const replayExample = `dodoor replay -conf conf/single.toml -trace azure -n 50 -warmup 0 -qps 1
dodoor replay -cluster lab -trace functionbench -n 500 -qps 2
dodoor replay -schedulers 10.0.0.1:20503,10.0.0.2:20503 -trace trace.csv -out out/mine`

// runReplay is `dodoor replay`: the generator alone, against running schedulers.
func runReplay(args []string, stdout, stderr io.Writer) int {
	o := newOptions("replay", "replays a trace against running schedulers and prints the summary", replayExample, "local", stderr)
	o.replayFlags()
	o.dataFlags()
	o.listOverride("schedulers", "generator.schedulers", "comma-separated `addresses`; without any, those that are registered, also later")
	return o.runOn(experiment.OnCluster, args, stdout)
}

// runOn replays a trace once and prints what came of it: local, simulate and replay.
func (o *options) runOn(on string, args []string, stdout io.Writer) int {
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	ctx, hurry, stop := signals(on, log)
	defer stop()
	if on == experiment.OnSim { // 100,000 workers would otherwise need twice their memory
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	s := experiment.Setting{Conf: c, On: on, Dir: experiment.DirOf(c), Log: log, Progress: print.bar(), Hurry: hurry}
	r, err := experiment.Run(ctx, s)
	if r.Summary != nil {
		if printing := print.summary(stdout, r, s.Dir); printing != nil {
			return o.fail(exitFailed, printing)
		}
	}
	return o.conclude(err)
}

// conclude reports how a run ended and returns the exit code.
func (o *options) conclude(err error) int {
	switch {
	case err == nil:
		return exitDone
	case experiment.Refused(err):
		return o.fail(exitUsage, err)
	}
	return o.fail(exitFailed, err)
}

// outputFlags choose how a summary is printed.
type outputFlags struct{ json, quiet bool }

func (o *options) outputFlags() *outputFlags {
	f := &outputFlags{}
	o.BoolVar(&f.json, "json", false, "print the summary as JSON")
	o.BoolVar(&f.quiet, "quiet", false, "no progress bar")
	return f
}

// bar is where progress is shown.
func (f *outputFlags) bar() io.Writer {
	if f.quiet {
		return nil
	}
	return os.Stderr
}

// summary prints what came of a run and, of a simulation, how hard this machine had to work for it.
func (f *outputFlags) summary(w io.Writer, r experiment.Result, dir string) error {
	if f.json {
		return printJSON(w, r.Summary)
	}
	if err := r.Summary.Print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "rows         %s\n", dir)
	if seconds := r.Took.Seconds(); err == nil && r.Events > 0 {
		_, err = fmt.Fprintf(w, "simulated    %d events in %.2f s on this machine, %.2f million a second\n",
			r.Events, seconds, float64(r.Events)/1e6/seconds)
	}
	return err
}

func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
