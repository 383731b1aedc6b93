// Command dodoor places tasks on heterogeneous clusters: the services, the tools that drive them, and
// the tools that look at them, in one binary.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"dodoor/assemble"
	"dodoor/internal/keeper"
	_ "dodoor/internal/keeper/first" // so that nothing outlives a command that runs tasks
	"dodoor/internal/terminal"
	"dodoor/localcluster"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the run failed or tasks were lost
	exitUsage  = 2 // wrong usage or configuration
)

// A command is one page: its name, what it does, and how it runs.
type command struct {
	name string
	does string
	run  func(args []string, stdout, stderr io.Writer) int
}

var commands = []command{
	{"local", "run a whole cluster on this machine, replay a trace, print the summary", runLocal},
	{"simulate", "run a whole cluster in virtual time, replay a trace, print the summary", runSimulate},
	{"replay", "replay a trace against running schedulers", runReplay},
	{"compare", "compare policies on the same trace, with intervals", runCompare},
	{"calibrate", "compare the simulator with real services", runCalibrate},
	{"profile", "measure on this machine what task types need, for schedulers", runProfile},
	{"reproduce", "run the experiments of the paper, and more, in virtual time", runReproduce},
	{"report", "draw and tabulate runs from their rows", runReport},
	{"trace", "make a trace, or describe one", runTrace},
	{"datastore", "run the data service", runDatastore},
	{"scheduler", "run one scheduler replica", runScheduler},
	{"worker", "run one worker", runWorker},
	{"run", "run a command, or one per entry of a list, on this machine or a cluster", runRun},
	{"submit", "submit a job, or one task, to a running cluster", runSubmit},
	{"jobs", "list jobs", runJobs},
	{"job", "tell of one job and its tasks", runJob},
	{"wait", "wait until a job has ended", runWait},
	{"logs", "print what the tasks of a job printed", runLogs},
	{"retry", "run tasks of a job again that failed", runRetry},
	{"forget", "have a job that has ended forgotten", runForget},
	{"estimates", "tell how long tasks are expected to run, and what they need", runEstimates},
	{"nodes", "list the workers of a running cluster", runNodes},
	{"tasks", "list tasks, or show one", runTasks},
	{"cancel", "cancel a job or a task", runCancel},
	{"drain", "take a worker out of placement, or put it back", runDrain},
	{"certs", "make, renew and revoke the certificates of a cluster", runCerts},
	{"conf", "check or show a configuration", runConf},
	{"host", "run and check the services of this host, for scripts/cluster", runHost},
	{"version", "print version, commit, Go and Thrift", runVersion},
}

func main() {
	if end := keeper.Over(); end != nil {
		os.Exit(sweep(end, os.Stderr))
	}
	stdout, stderr := terminal.Safe(os.Stdout), terminal.Safe(os.Stderr)
	code := dispatch(os.Args[1:], stdout, stderr)
	_, _ = terminal.Flush(stdout), terminal.Flush(stderr)
	keeper.Exit(code)
}

// sweep ends and removes what a process that had this one as its keeper has left, and returns its exit code. Groups come first:
// nobody gets away from the kernel.
func sweep(end *keeper.End, stderr io.Writer) int {
	if len(end.Notes) > 0 {
		for _, note := range end.Notes {
			assemble.KillGroups(note)
		}
		end.Kill()
	}
	if n := end.Left - end.Denied; n > 0 {
		fmt.Fprintf(stderr, "dodoor: %d processes of tasks do not die: they wait for a disk or the like\n", n)
	}
	if end.Denied > 0 {
		fmt.Fprintf(stderr, "dodoor: %d processes of tasks are other users', and this one may not kill them: root can\n", end.Denied)
	}
	localcluster.SweepFolders()
	for _, note := range end.Notes {
		if err := assemble.Sweep(note); err != nil {
			fmt.Fprintf(stderr, "dodoor: what a worker left is still there, until one of its name starts: %v\n", err)
		}
	}
	return end.Code
}

func dispatch(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		usage(stdout)
		return exitDone
	case "-version", "--version":
		return runVersion(nil, stdout, stderr)
	}
	for _, c := range commands {
		if c.name == args[0] {
			return c.run(args[1:], stdout, stderr)
		}
	}
	fmt.Fprintf(stderr, "dodoor: no command is called %q\n\n", args[0])
	usage(stderr)
	return exitUsage
}

func usage(w io.Writer) {
	var b strings.Builder
	b.WriteString("Dodoor places tasks on heterogeneous clusters without probing anybody.\n\nUsage: dodoor COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.does)
	}
	b.WriteString("\ndodoor COMMAND -h shows the flags and an example. To see it work:\n\n  dodoor local -n 2000 -qps 60 -time-scale 10\n" +
		"  dodoor run -- gzip -k {} ::: *.log\n")
	io.WriteString(w, b.String())
}
