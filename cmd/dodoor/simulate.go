package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

const simulateExample = `dodoor simulate -n 100000 -qps 60
dodoor simulate -conf paper -trace azure -n 4000 -qps 5 -policy dodoor+ -set worker.noise=0.5 -set sim.delay=1ms
dodoor simulate -conf paper -trace functionbench -n 5000 -qps 60 -set "sim.fault=[{what='datastore', at='20s', until='40s'}]"`

// runSimulate is `dodoor simulate`: a whole cluster in virtual time.
func runSimulate(args []string, stdout, stderr io.Writer) int {
	o := newOptions("simulate", "runs a whole cluster in virtual time, replays a trace, prints the summary; the same seed gives the same rows", simulateExample, "local", stderr)
	o.replayFlags()
	o.override("policy", "scheduler.policy", "placement `policy`, or oracle, which knows everything")
	print := o.outputFlags()
	c, log, code := o.load(args)
	if code >= 0 {
		return code
	}
	if err := checkPolicy(c, onSim); err != nil {
		return o.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	defer stop()
	s := simulation{c: c, dir: runDir(c)}
	if !print.quiet {
		s.progress = os.Stderr
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // 100,000 workers would otherwise need twice their memory
	code, err := s.run(ctx)
	if s.summary != nil {
		if err := s.print(stdout, print); err != nil {
			return o.fail(exitFailed, err)
		}
	}
	if err != nil {
		return o.fail(code, err)
	}
	return code
}

// print writes the summary and, for people, how hard this machine had to work for it.
func (s *simulation) print(w io.Writer, f *outputFlags) error {
	if err := f.summary(w, s.summary, s.dir); err != nil || f.json {
		return err
	}
	_, err := fmt.Fprintf(w, "simulated    %d events in %.2f s on this machine, %.2f million a second\n",
		s.result.Events, s.took.Seconds(), float64(s.result.Events)/1e6/s.took.Seconds())
	return err
}
