package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dodoor/internal/keeper"
	"dodoor/internal/wholefile"
	"dodoor/profile"
)

const profileExample = `dodoor profile -conf docker -class whole -mode short
dodoor profile -conf docker -class half -type linpack,matmul -n 12 -keep-going
dodoor profile -merge out/profile-whole.toml,out/profile-half.toml -out out/types.toml`

// profileFlags are what `dodoor profile` can be told.
type profileFlags struct {
	*options
	profile.Options
	onlyTypes, onlyModes string
	out, merge           string
	print                *outputFlags
}

func newProfileFlags(stderr io.Writer) *profileFlags {
	o := newOptions("profile", "runs task types one at a time on this machine and writes what they need, for -types; nothing else should "+
		"run meanwhile", profileExample, "docker", stderr)
	o.typesFlag()
	f := &profileFlags{options: o}
	o.StringVar(&f.Options.Class, "class", "", "node `class` that this machine stands for: one of the configuration's [[class]] tables")
	o.StringVar(&f.onlyTypes, "type", "", "comma-separated task `types`; all that have modes when empty")
	o.StringVar(&f.onlyModes, "mode", "", "comma-separated `modes`; all when empty")
	o.IntVar(&f.Options.N, "n", 7, "`runs` of every type and mode, the warm-up included; what needs fewer cores than its limit runs again "+
		"under what it needs")
	o.IntVar(&f.Options.Warmup, "warmup", 2, "first `runs` of each that no figure counts")
	o.Float64Var(&f.Options.Cores, "cores", 0, "`cores` that a run may use; 0: those of the class")
	o.Int64Var(&f.Options.MemoryMB, "memory", 0, "`MiB` of memory that a run may use; 0: those of the class")
	o.DurationVar(&f.Options.Duration, "duration", 0, "`time` that executors sleep and stress-ng are to take; 0: the type's own estimate")
	o.StringVar(&f.out, "out", "", "`file` to write, which ends in .toml; out/profile-CLASS.toml when empty. The spread of the runs goes "+
		"into an SVG beside it")
	o.StringVar(&f.merge, "merge", "", "measure nothing: comma-separated `files` that were measured on several classes become one")
	o.BoolVar(&f.Options.KeepGoing, "keep-going", false, "leave a type and mode out of which a run fails, and go on")
	f.print = o.outputFlags()
	return f
}

// runProfile is `dodoor profile`.
func runProfile(args []string, stdout, stderr io.Writer) int {
	f := newProfileFlags(stderr)
	if code := f.parse(args); code >= 0 {
		return code
	}
	if f.merge != "" {
		return f.mergeFiles(stdout)
	}
	c, log, code := f.configure()
	if code >= 0 {
		return code
	}
	f.Options.Types, f.Options.Modes = words(f.onlyTypes), words(f.onlyModes)
	p, err := profile.New(c, f.Options, log, f.print.bar())
	if err != nil {
		return f.fail(exitUsage, err)
	}
	if f.out == "" {
		f.out = filepath.Join("out", "profile-"+f.Options.Class+".toml")
	}
	if err = prepareFile(f.out); err == nil {
		err = p.Prepare()
	}
	if err != nil {
		return f.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	defer stop()
	ctx = keeper.Kept(ctx)
	err = p.Measure(ctx)
	figures, writing := p.Write(f.out)
	if writing == nil {
		writing = f.show(stdout, figures)
	}
	return f.conclude(errors.Join(err, writing))
}

// show prints the figures that were written.
func (f *profileFlags) show(stdout io.Writer, figures []profile.Figures) error {
	if f.print.json {
		return printJSON(stdout, figures)
	}
	return profile.Print(stdout, figures, f.out)
}

// mergeFiles is `dodoor profile -merge`.
func (f *profileFlags) mergeFiles(stdout io.Writer) int {
	var others []string
	f.Visit(func(given *flag.Flag) {
		if !slices.Contains([]string{"merge", "out", "json", "quiet"}, given.Name) {
			others = append(others, "-"+given.Name)
		}
	})
	if len(others) > 0 {
		return f.fail(exitUsage, fmt.Errorf("%s: -merge measures nothing, so only -out and -json go with it", strings.Join(others, ", ")))
	}
	if f.out == "" {
		return f.fail(exitUsage, errors.New("-merge needs -out, the file to write"))
	}
	text, figures, err := profile.MergeFiles(words(f.merge))
	if err == nil {
		err = prepareFile(f.out)
	}
	if err != nil {
		return f.fail(exitUsage, err)
	}
	return f.conclude(errors.Join(wholefile.WritePublic(f.out, text), f.show(stdout, figures)))
}

// prepareFile makes the directory of a catalogue that will be written, before hours go into its content.
func prepareFile(path string) error {
	if filepath.Ext(path) != ".toml" {
		return fmt.Errorf("-out %s: must end in .toml, as -types will want it", path)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("-out %s is a directory", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("directory of %s: %w (choose another with -out)", path, err)
	}
	return nil
}
