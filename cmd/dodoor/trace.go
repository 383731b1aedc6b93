package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/wholefile"
)

const traceExample = `dodoor trace azure -n 4000 -seed 1 -out azure.csv
dodoor trace azure -packing packing_trace_zone_a_v1.sqlite -conf paper -n 4000 -out published.csv
dodoor trace functionbench -n 10000 -mix 60/30/10 > mixed.csv
dodoor trace stats azure.csv`

// traceFlags are what the verbs of `dodoor trace` can be told.
type traceFlags struct {
	*options
	n          int
	seed       uint64
	out        string
	mix, class string
	packing    string
	log        *slog.Logger
	published  *published // what -packing names, once it is open
}

// runTrace is `dodoor trace azure|functionbench|stats`.
func runTrace(args []string, stdout, stderr io.Writer) int {
	f := &traceFlags{options: newOptions("trace", "makes a trace (azure, functionbench), or describes one (stats FILE)", traceExample, "local",
		stderr)}
	f.IntVar(&f.n, "n", 4000, "`number` of requests")
	f.Uint64Var(&f.seed, "seed", 1, "seed of every draw in a synthetic trace")
	f.StringVar(&f.out, "out", "", "`file` to write; standard output if there is none")
	f.StringVar(&f.packing, "packing", "", "azure: the published `file` of the Azure Traces for Packing 2020 (SQLite), read in place of a "+
		"synthetic trace")
	f.StringVar(&f.mix, "mix", "short", "functionbench: the mode short alone, or the `shares` of short/medium/long, as in 60/30/10")
	f.StringVar(&f.class, "class", "", "functionbench: node `class` whose profile stands in the rows; when empty "+
		""+generator.ReferenceClass+", or else the first that has one")
	f.typesFlag()
	if len(args) == 0 {
		f.Usage()
		return exitUsage
	}
	switch verb, rest := args[0], args[1:]; verb {
	case "-h", "-help", "--help":
		f.Usage()
		return exitDone
	case "azure":
		return f.make(rest, stdout, f.azure)
	case "functionbench":
		return f.make(rest, stdout, f.functionBench)
	case "stats":
		return f.stats(rest, stdout)
	default:
		return f.fail(exitUsage, fmt.Errorf("no verb is called %q: it is azure, functionbench or stats", verb))
	}
}

// make writes the trace that source returns.
func (f *traceFlags) make(args []string, stdout io.Writer, source func(*conf.Config) (iter.Seq[generator.Request], error)) int {
	c, code := f.quietly(args)
	if code >= 0 {
		return code
	}
	dims, err := c.Dimensions()
	if err != nil {
		return f.fail(exitUsage, err)
	}
	requests, err := source(c)
	if errors.Is(err, context.Canceled) {
		return f.fail(exitFailed, errors.New("stopped by a signal"))
	}
	if err != nil {
		return f.fail(exitUsage, err)
	}
	defer f.published.close()
	write := func(w io.Writer) error {
		return errors.Join(generator.WriteTrace(w, dims, requests), f.published.failed())
	}
	if f.out == "" {
		err = write(stdout)
	} else {
		err = wholefile.WriteTo(f.out, write)
	}
	if err != nil {
		return f.fail(exitFailed, err)
	}
	f.published.sayIfShort(f)
	return exitDone
}

// quietly reads the configuration; its warnings are about clusters.
func (f *traceFlags) quietly(args []string) (*conf.Config, int) {
	if code := f.parse(args); code >= 0 {
		return nil, code
	}
	c, log, code := f.configure()
	f.log = log
	return c, code
}

func (f *traceFlags) functionBench(c *conf.Config) (iter.Seq[generator.Request], error) {
	mix, err := generator.ParseMix(f.mix)
	if err != nil {
		return nil, err
	}
	types, class := c.TaskTypes(), f.class
	if class == "" {
		if class, err = generator.ReferenceFor(types, c.ClassNames(), mix); err != nil {
			return nil, err
		}
	}
	return generator.FunctionBenchSeq(types, class, mix, f.n, f.seed)
}

// stats describes the trace in a file.
func (f *traceFlags) stats(args []string, stdout io.Writer) int {
	path := ""
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		path, args = args[0], args[1:]
	}
	c, code := f.quietly(args)
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
