package main

import (
	"io"

	"dodoor/experiment"
)

const localExample = `dodoor local -n 2000 -qps 60 -time-scale 10
dodoor local -conf conf/paper.toml -trace azure -n 4000 -qps 5 -time-scale 200 -out out/azure`

// runLocal is `dodoor local`: a whole cluster in this process, over real Thrift on loopback.
func runLocal(args []string, stdout, stderr io.Writer) int {
	o := newOptions("local", "runs a whole cluster on this machine, replays a trace, prints the summary", localExample, "local", stderr)
	o.replayFlags()
	o.override("policy", "scheduler.policy", "placement `policy`")
	o.override("http", "http.listen", "`address` for /metrics, /healthz and /readyz of all services")
	return o.runOn(experiment.OnLocal, args, stdout)
}
