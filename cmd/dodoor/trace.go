package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
)

const traceExample = `dodoor trace azure -n 4000 -seed 1 -out azure.csv
dodoor trace functionbench -n 10000 -mix 60/30/10 > mixed.csv
dodoor trace stats azure.csv`

// traceFlags are what the verbs of `dodoor trace` can be told.
type traceFlags struct {
	*options
	n          int
	seed       uint64
	out        string
	mix, class string
}

// runTrace is `dodoor trace azure|functionbench|stats`.
func runTrace(args []string, stdout, stderr io.Writer) int {
	f := &traceFlags{options: newOptions("trace", "makes a synthetic trace (azure, functionbench), or describes one (stats FILE)", traceExample, "local", stderr)}
	f.IntVar(&f.n, "n", 4000, "`number` of requests")
	f.Uint64Var(&f.seed, "seed", 1, "seed of every draw")
	f.StringVar(&f.out, "out", "", "`file` to write; standard output if there is none")
	f.StringVar(&f.mix, "mix", "short", "functionbench: the mode short alone, or the `shares` of short/medium/long, as in 60/30/10")
	f.StringVar(&f.class, "class", generator.ReferenceClass, "functionbench: node `class` whose profile stands in the rows")
	if len(args) == 0 {
		f.Usage()
		return exitUsage
	}
	switch verb, rest := args[0], args[1:]; verb {
	case "-h", "-help", "--help":
		f.Usage()
		return exitDone
	case "azure":
		return f.make(rest, stdout, func(*conf.Config) ([]generator.Request, error) { return generator.Azure(f.n, f.seed) })
	case "functionbench":
		return f.make(rest, stdout, f.functionBench)
	case "stats":
		return f.stats(rest, stdout)
	default:
		return f.fail(exitUsage, fmt.Errorf("no verb is called %q: it is azure, functionbench or stats", verb))
	}
}

// make writes the trace that synthesise returns.
func (f *traceFlags) make(args []string, stdout io.Writer, synthesise func(*conf.Config) ([]generator.Request, error)) int {
	c, _, code := f.load(args)
	if code >= 0 {
		return code
	}
	dims, err := c.Dimensions()
	if err != nil {
		return f.fail(exitUsage, err)
	}
	requests, err := synthesise(c)
	if err != nil {
		return f.fail(exitUsage, err)
	}
	if f.out == "" {
		err = generator.WriteTrace(stdout, dims, requests)
	} else {
		err = writeTraceFile(f.out, dims, requests)
	}
	if err != nil {
		return f.fail(exitFailed, err)
	}
	return exitDone
}

func (f *traceFlags) functionBench(c *conf.Config) ([]generator.Request, error) {
	mix, err := generator.ParseMix(f.mix)
	if err != nil {
		return nil, err
	}
	return generator.FunctionBench(c.TaskTypes(), f.class, mix, f.n, f.seed)
}

// writeTraceFile leaves no half-written trace behind.
func writeTraceFile(path string, dims cluster.Dimensions, requests []generator.Request) error {
	partial := path + ".partial"
	file, err := os.Create(partial)
	if err != nil {
		return err
	}
	if err := errors.Join(generator.WriteTrace(file, dims, requests), file.Close()); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return os.Rename(partial, path)
}

// stats describes the trace in a file.
func (f *traceFlags) stats(args []string, stdout io.Writer) int {
	path := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		path, args = args[0], args[1:]
	}
	c, _, code := f.load(args)
	if code >= 0 {
		return code
	}
	if path == "" {
		return f.fail(exitUsage, errors.New("stats needs the name of a trace file"))
	}
	dims, err := c.Dimensions()
	if err != nil {
		return f.fail(exitUsage, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return f.fail(exitUsage, err)
	}
	defer file.Close()
	requests, err := generator.ReadTrace(bufio.NewReader(file), dims, 0)
	if err != nil {
		return f.fail(exitUsage, fmt.Errorf("%s: %w", path, err))
	}
	if err := generator.Describe(requests).Print(stdout); err != nil {
		return f.fail(exitFailed, err)
	}
	return exitDone
}
