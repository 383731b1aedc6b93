package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

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
	f.StringVar(&f.class, "class", "", "functionbench: node `class` whose profile stands in the rows; when empty "+generator.ReferenceClass+", or else the first that has one")
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
		return f.make(rest, stdout, func(*conf.Config) (iter.Seq[generator.Request], error) { return generator.AzureSeq(f.n, f.seed) })
	case "functionbench":
		return f.make(rest, stdout, f.functionBench)
	case "stats":
		return f.stats(rest, stdout)
	default:
		return f.fail(exitUsage, fmt.Errorf("no verb is called %q: it is azure, functionbench or stats", verb))
	}
}

// make writes the trace that synthesise returns.
func (f *traceFlags) make(args []string, stdout io.Writer, synthesise func(*conf.Config) (iter.Seq[generator.Request], error)) int {
	c, code := f.quietly(args)
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

// quietly reads the configuration; its warnings are about clusters.
func (f *traceFlags) quietly(args []string) (*conf.Config, int) {
	if code := f.parse(args); code >= 0 {
		return nil, code
	}
	c, _, code := f.configure()
	return c, code
}

func (f *traceFlags) functionBench(c *conf.Config) (iter.Seq[generator.Request], error) {
	mix, err := generator.ParseMix(f.mix)
	if err != nil {
		return nil, err
	}
	types, class := c.TaskTypes(), f.class
	if class == "" {
		if class, err = generator.ReferenceFor(types, classNames(c), mix); err != nil {
			return nil, err
		}
	}
	return generator.FunctionBenchSeq(types, class, mix, f.n, f.seed)
}

// writeTraceFile leaves no half-written trace behind, where a file is made or replaced; what a link leads
// to is. A device or a pipe is written in place.
func writeTraceFile(path string, dims cluster.Dimensions, requests iter.Seq[generator.Request]) error {
	target, replaceable, err := traceTarget(path)
	if err != nil {
		return err
	}
	if !replaceable {
		file, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o666)
		if err != nil {
			return err
		}
		return errors.Join(generator.WriteTrace(file, dims, requests), file.Close())
	}
	partial := target + ".partial"
	file, err := os.Create(partial)
	if err != nil {
		return err
	}
	if err := errors.Join(generator.WriteTrace(file, dims, requests), file.Close()); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	return os.Rename(partial, target)
}

// traceTarget follows links and says whether what they lead to is, or will be, a regular file.
func traceTarget(path string) (target string, replaceable bool, err error) {
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err := os.Lstat(path) // a link that leads nowhere yet: opening it makes the file
		return path, err != nil, nil
	}
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", false, err
	}
	return target, info.Mode().IsRegular(), nil
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
