package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const profileExample = `dodoor profile -conf docker -class whole -mode short
dodoor profile -conf docker -class half -type linpack,matmul -n 12 -keep-going
dodoor profile -merge out/profile-whole.toml,out/profile-half.toml -out out/types.toml`

// profileFlags are what `dodoor profile` can be told.
type profileFlags struct {
	*options
	class                string
	onlyTypes, onlyModes string
	n, warmup            int
	cores                float64
	memory               int64
	duration             time.Duration
	out, merge           string
	keepGoing            bool
	print                *outputFlags
}

func newProfileFlags(stderr io.Writer) *profileFlags {
	o := newOptions("profile", "runs task types one at a time on this machine and writes what they need, for -types; nothing else should run meanwhile", profileExample, "docker", stderr)
	o.typesFlag()
	f := &profileFlags{options: o}
	o.StringVar(&f.class, "class", "", "node `class` that this machine stands for: one of the configuration's [[class]] tables")
	o.StringVar(&f.onlyTypes, "type", "", "comma-separated task `types`; all that have modes when empty")
	o.StringVar(&f.onlyModes, "mode", "", "comma-separated `modes`; all when empty")
	o.IntVar(&f.n, "n", 7, "`runs` of every type and mode, the warm-up included; what needs fewer cores than its limit runs again under what it needs")
	o.IntVar(&f.warmup, "warmup", 2, "first `runs` of each that no figure counts")
	o.Float64Var(&f.cores, "cores", 0, "`cores` that a run may use; 0: those of the class")
	o.Int64Var(&f.memory, "memory", 0, "`MiB` of memory that a run may use; 0: those of the class")
	o.DurationVar(&f.duration, "duration", 0, "`time` that executors sleep and stress-ng are to take; 0: the type's own estimate")
	o.StringVar(&f.out, "out", "", "`file` to write, which ends in .toml; out/profile-CLASS.toml when empty. The spread of the runs goes into an SVG beside it")
	o.StringVar(&f.merge, "merge", "", "measure nothing: comma-separated `files` that were measured on several classes become one")
	o.BoolVar(&f.keepGoing, "keep-going", false, "leave a type and mode out of which a run fails, and go on")
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
	p := profiling{c: c, log: log, keepGoing: f.keepGoing, n: f.n, warmup: f.warmup}
	if !f.print.quiet {
		p.progress = os.Stderr
	}
	if err := p.plan(f); err != nil {
		return f.fail(exitUsage, err)
	}
	if f.out == "" {
		f.out = filepath.Join("out", "profile-"+p.class.Name+".toml")
	}
	if err := prepareFile(f.out); err != nil {
		return f.fail(exitUsage, err)
	}
	ctx, stop := interruptible(log)
	defer stop()
	code, err := p.measure(ctx)
	if code != exitUsage {
		if publishing := f.publish(stdout, &p); publishing != nil {
			code, err = exitFailed, errors.Join(err, publishing)
		}
	}
	if err != nil {
		return f.fail(code, err)
	}
	return code
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

// words splits a list at its commas.
func words(list string) []string {
	if list == "" {
		return nil
	}
	var all []string
	for word := range strings.SplitSeq(list, ",") {
		all = append(all, strings.TrimSpace(word))
	}
	return all
}
