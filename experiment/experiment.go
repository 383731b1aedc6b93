// Package experiment replays a trace under one configuration after the other: on real services in this process, on a
// cluster that runs, or in the simulator. Wherever a run takes place, it leaves the same files.
package experiment

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/BurntSushi/toml"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/version"
	"dodoor/internal/wholefile"
	"dodoor/report/metrics"
)

// Where a run takes place.
const (
	OnLocal   = "local"
	OnCluster = "cluster"
	OnSim     = "sim"
)

// Setting is one run: what is replayed, and where.
type Setting struct {
	Conf *conf.Config
	On   string // OnLocal, OnCluster or OnSim
	Dir  string // of the run; must not hold one yet

	Started *conf.Config // with which a cluster was started whose schedulers take Conf's policy and seed; nil: they keep theirs

	Log      *slog.Logger
	Progress io.Writer        // a bar, if it is a terminal; nil: none
	Hurry    context.Context  // when it ends, a run that is stopping waits for nothing any more; nil: never
	Network  assemble.Network // of a local cluster; nil: TCP on loopback
}

// Result is what came of a run.
type Result struct {
	Summary *metrics.Summary // nil: it did not end
	Events  int64            // in the simulator
	Took    time.Duration    // on this machine
}

// refused is an error in what was asked for.
type refused struct{ error }

func (e refused) Unwrap() error { return e.error }

// Refused reports whether err is about what was asked for, and nothing was run. Of several that are joined, all must
// be.
func Refused(err error) bool {
	switch e := err.(type) {
	case refused:
		return true
	case interface{ Unwrap() error }:
		return Refused(e.Unwrap())
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(one error) bool { return !Refused(one) })
	}
	return false
}

func refuse(err error) error {
	if err == nil {
		return nil
	}
	return refused{err}
}

// Run replays the trace of a configuration, writes rows and summary, and checks that every task finished and, where
// the cluster is its own, that the accounts of all services are zero at the end. A run that did not end well may have
// a summary beside its error.
func Run(ctx context.Context, s Setting) (Result, error) {
	if s.Hurry == nil {
		s.Hurry = context.Background()
	}
	if s.On != OnCluster {
		if err := assemble.CheckPolicy(s.Conf, s.On == OnSim); err != nil {
			return Result{}, refuse(err)
		}
	}
	switch s.On {
	case OnLocal:
		return s.runLocally(ctx)
	case OnCluster:
		return s.runOnCluster(ctx)
	case OnSim:
		return s.simulate(ctx)
	}
	return Result{}, refuse(fmt.Errorf("runs take place on %s, %s or %s, not on %q", OnLocal, OnCluster, OnSim, s.On))
}

// DirOf names a directory for a run of c that begins now, inside the configured one.
func DirOf(c *conf.Config) string {
	return filepath.Join(c.Generator.Out, nameOf(c)+"-"+time.Now().Format("20060102-150405.000"))
}

func nameOf(c *conf.Config) string {
	return fmt.Sprintf("%s-qps%g-seed%d", c.Scheduler.Policy, c.Generator.QPS, c.Seed)
}

func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, wholefile.FolderMode); err != nil {
		return refuse(fmt.Errorf("directory for the rows: %w (choose another with -out)", err))
	}
	return nil
}

// describe says of a run what its configuration says.
func describe(c *conf.Config, on string, nodes []cluster.Node) (generator.RunInfo, error) {
	info := generator.RunInfo{Policy: c.Scheduler.Policy, On: on, Trace: c.Generator.Trace,
		QPS: c.Generator.QPS, Burst: c.Generator.Burst, TraceScale: c.Generator.TraceScale, Seed: c.Seed, Classes: generator.ClassesOf(nodes),
		Versions: version.All()}
	info.Host, _ = os.Hostname()
	var err error
	info.Settings, err = settings(c)
	return info, err
}

// settings is the whole configuration by section, as a run's description keeps it.
func settings(c *conf.Config) (map[string]any, error) {
	text, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, toml.Unmarshal(text, &all)
}
