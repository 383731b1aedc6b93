package main

import (
	"io"

	"dodoor/experiment"
)

const simulateExample = `dodoor simulate -n 100000 -qps 60
dodoor simulate -conf paper -trace azure -n 4000 -qps 5 -policy dodoor+ -set worker.noise=0.5 -set sim.delay=1ms
dodoor simulate -conf paper -trace functionbench -n 5000 -qps 60 -set "sim.fault=[{what='datastore', at='20s', until='40s'}]"`

// runSimulate is `dodoor simulate`: a whole cluster in virtual time.
func runSimulate(args []string, stdout, stderr io.Writer) int {
	o := newOptions("simulate", "runs a whole cluster in virtual time, replays a trace, prints the summary; the same seed gives the same rows",
		simulateExample, "local", stderr)
	o.replayFlags()
	o.override("policy", "scheduler.policy", "placement `policy`, or oracle, which knows everything")
	return o.runOn(experiment.OnSim, args, stdout)
}
