package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dodoor/client"
	"dodoor/conf"
	"dodoor/internal/telemetry"
)

// options are a command's flags: those that stand for a configuration key become overrides, so that
// they are validated like the file.
type options struct {
	*flag.FlagSet
	conf      string
	sets      []string
	types     []string // files of task types
	visits    bool     // a running cluster, which the person may name
	serves    bool     // as a service, which finds its files where it was started
	named     string   // that cluster, and what named it
	only      []string // schedulers to ask, and nobody else
	others    []string // schedulers to ask where the data service does not answer
	datastore string   // as -datastore says
	stderr    io.Writer
}

// newFlags starts the flags of a command that takes no configuration; example is shown by -h.
func newFlags(name, does, example string, stderr io.Writer) *options {
	o := &options{FlagSet: flag.NewFlagSet("dodoor "+name, flag.ContinueOnError), stderr: stderr}
	o.SetOutput(stderr)
	o.Usage = func() {
		fmt.Fprintf(stderr, "dodoor %s: %s.\n\nExample:\n  %s\n\nFlags:\n", name, does, strings.ReplaceAll(example, "\n", "\n  "))
		o.PrintDefaults()
	}
	return o
}

// newOptions starts the flags of a command that takes one.
func newOptions(name, does, example, defaultConf string, stderr io.Writer) *options {
	o := newFlags(name, does, example, stderr)
	o.StringVar(&o.conf, "conf", defaultConf, "configuration `file`, or the name of a shipped profile: "+strings.Join(conf.Profiles(), ", "))
	o.Func("set", "override any configuration `key=value`, as in -set scheduler.b_delta=4 (repeatable)", func(s string) error {
		_, value, _ := strings.Cut(s, "=")
		o.sets = append(o.sets, s)
		return checkNumber(strings.TrimSpace(value))
	})
	o.override("log-level", "log.level", "log `level`: debug, info, warn or error")
	return o
}

// override declares a flag that stands for a configuration key.
func (o *options) override(name, key, help string) {
	o.Func(name, help+" ("+key+")", func(value string) error {
		o.sets = append(o.sets, key+"="+quoted(value))
		return checkNumber(value)
	})
}

// listOverride declares a flag with comma-separated values that stands for a list in the configuration.
func (o *options) listOverride(name, key, help string) {
	o.Func(name, help+" ("+key+")", func(value string) error {
		var items []string
		for item := range strings.SplitSeq(value, ",") {
			items = append(items, strconv.Quote(strings.TrimSpace(item)))
		}
		o.sets = append(o.sets, key+"=["+strings.Join(items, ", ")+"]")
		return nil
	})
}

// typesFlag declares where task types with their profile come from.
func (o *options) typesFlag() {
	o.Func("types", "`file` of task types with their profile, as dodoor profile writes it: in place of the configuration's of the same name",
		func(name string) error {
			o.types = append(o.types, name)
			return nil
		})
}

// checkNumber refuses a number that no key can hold: it would be taken for a word.
func checkNumber(value string) error {
	_, whole := strconv.ParseInt(value, 10, 64)
	_, real := strconv.ParseFloat(value, 64)
	if errors.Is(whole, strconv.ErrRange) || errors.Is(real, strconv.ErrRange) {
		return fmt.Errorf("number out of range: whole numbers go from %d to %d, others to %.2g", math.MinInt64, math.MaxInt64, math.MaxFloat64)
	}
	return nil
}

// quoted keeps a value that is not a number in one piece, whatever it contains.
func quoted(value string) string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return value
	}
	return strconv.Quote(value)
}

// parseFlags reads the flags of a command line. Its int is the exit code to stop with, or -1 to go on.
func (o *options) parseFlags(args []string) int {
	switch err := o.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	return -1
}

// parse reads a command line of flags alone.
func (o *options) parse(args []string) int {
	if code := o.parseFlags(args); code >= 0 {
		return code
	}
	if o.NArg() > 0 {
		fmt.Fprintf(o.stderr, "%s: unexpected argument %q\n", o.Name(), o.Arg(0))
		return exitUsage
	}
	return -1
}

// load parses the command line, reads the configuration that it describes, and warns of what is rarely
// meant: it is for commands that run services or replay a trace.
func (o *options) load(args []string) (*conf.Config, *slog.Logger, int) {
	if code := o.parse(args); code >= 0 {
		return nil, nil, code
	}
	return o.read()
}

// read is load after the command line was parsed.
func (o *options) read() (*conf.Config, *slog.Logger, int) {
	c, log, code := o.configure()
	if code >= 0 {
		return nil, nil, code
	}
	for _, warning := range c.Warnings() {
		log.Warn(warning)
	}
	return c, log, -1
}

// configure reads the configuration, for commands that take little of it.
func (o *options) configure() (*conf.Config, *slog.Logger, int) {
	if o.visits {
		if err := o.choose(); err != nil {
			return nil, nil, o.fail(exitUsage, err)
		}
	}
	c, err := conf.Load(o.conf, o.sets, o.types...)
	if err != nil {
		return nil, nil, o.fail(exitUsage, err)
	}
	if !o.serves {
		c.Security.Folder = o.besideConf(c.Security.Folder)
	}
	log, err := telemetry.Logger(c.Log.Level, c.Log.Format, o.stderr)
	if err != nil {
		return nil, nil, o.fail(exitUsage, err)
	}
	return c, log, -1
}

// besideConf is where commands find the bundles: a relative folder that a file names is beside that file, wherever the person is.
func (o *options) besideConf(folder string) string {
	overridden := slices.ContainsFunc(o.sets, func(set string) bool { return overrides(set, "security.folder") })
	if folder == "" || filepath.IsAbs(folder) || overridden || !conf.IsPath(o.conf) {
		return folder
	}
	return filepath.Join(filepath.Dir(o.conf), folder)
}

// overrides tells whether an override is of a key.
func overrides(set, key string) bool {
	of, _, _ := strings.Cut(set, "=")
	return strings.TrimSpace(of) == key
}

// fail reports an error and returns the exit code.
func (o *options) fail(code int, err error) int {
	if errors.Is(err, client.ErrUnknownJob) {
		err = fmt.Errorf("%w: %s lists those that are known", err, o.again("jobs"))
	}
	if o.named != "" {
		err = fmt.Errorf("%s: %w", o.named, err)
	}
	fmt.Fprintf(o.stderr, "%s: %v\n", o.Name(), err)
	return code
}

// replayFlags are common to the commands that replay a trace.
func (o *options) replayFlags() {
	o.override("qps", "generator.qps", "mean arrivals per second, in trace time")
	o.override("seed", "seed", "seed of arrivals, synthetic traces and every placement")
	o.traceFlags()
}

// traceFlags are those of replayFlags that hold for every run of a comparison.
func (o *options) traceFlags() {
	o.override("trace", "generator.trace", "trace `file`, or azure or functionbench for a synthetic one")
	o.override("burst", "generator.burst", "bursty arrivals at the same mean rate: that of busy phases is so many `times` -qps, up to 10")
	o.override("n", "generator.n", "number of tasks, warm-up included")
	o.override("warmup", "generator.warmup", "first tasks that no figure counts")
	o.override("time-scale", "generator.time_scale", "trace seconds that pass in one")
	o.override("out", "generator.out", "`directory` for the rows")
	o.typesFlag()
}

// split returns the words of a list, which has commas between them.
func split(list string) []string {
	all := strings.Split(list, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// words is split, but of an empty list there are none.
func words(list string) []string {
	if list == "" {
		return nil
	}
	return split(list)
}
