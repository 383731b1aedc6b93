// Package results reads what was measured: one run, or all that a directory holds, with their figures.
package results

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/internal/runfiles"

	"dodoor/report/metrics"
)

// Run is one run of a directory: how it was made, its figures, and the curves behind them.
type Run struct {
	Name string // of its directory
	Info *generator.RunInfo
	*metrics.Summary
	Curves *metrics.Curves
}

// Complete reports whether every task of the run finished.
func (r *Run) Complete() bool { return r.Completed == r.Tasks && !r.Info.Stopped }

// Missing says what did not finish, or nothing when all did.
func (r *Run) Missing() string {
	var parts []string
	for _, o := range []struct {
		n    int
		name string
	}{{r.Failed, "failed"}, {r.TimedOut, "timed out"}, {r.Cancelled, "cancelled"}, {r.Lost, "lost"}} {
		if o.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", o.n, o.name))
		}
	}
	if r.Info.Stopped {
		parts = append(parts, "stopped by a signal")
	}
	return strings.Join(parts, ", ")
}

// Load reads the run in dir or, when dir is not itself a run, every run in the directories inside
// it, ordered by name. Each note is a run that was left out, and why: half of a run gives figures
// that are wrong without looking wrong. It is an error when no run is left, and when runs cannot be
// read together.
func Load(dir string) (runs []Run, notes []string, err error) {
	dirs, err := runDirs(dir)
	if err != nil {
		return nil, nil, err
	}
	var failures []error
	for _, d := range dirs {
		run, err := loadRun(d)
		switch {
		case err == nil:
			runs = append(runs, *run)
		case otherVersion(err):
			return nil, nil, fmt.Errorf("%w: it was written by another version of dodoor and cannot be read together with the others: move it "+
				"away, or run it again", err)
		default:
			failures = append(failures, err)
			notes = append(notes, fmt.Sprintf("left out: %v", err))
		}
	}
	if len(runs) == 0 {
		return nil, nil, errors.Join(failures...)
	}
	if err := oneMajorVersion(runs); err != nil {
		return nil, nil, err
	}
	return runs, notes, nil
}

// runDirs lists the directories that hold a run, or what is left of one.
func runDirs(dir string) ([]string, error) {
	if rundir.Holds(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		if d := filepath.Join(dir, e.Name()); rundir.Holds(d) {
			dirs = append(dirs, d)
		}
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s holds no run: neither it nor a directory inside it has a %s", dir, runfiles.Run)
	}
	return dirs, nil
}

func loadRun(dir string) (*Run, error) {
	info, err := rundir.ReadEnded(dir)
	if err != nil {
		return nil, err
	}
	fold := metrics.NewFold(info)
	fold.KeepCurves()
	if err := rundir.EachRow(dir, info, fold.Add); err != nil {
		return nil, err
	}
	name, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := fold.Summary()
	return &Run{Name: filepath.Base(name), Info: info, Summary: s, Curves: fold.Curves()}, nil
}

// otherVersion reports whether a run failed to load because its files have other columns or meanings
// than this version's: the header, which is line 1, or the version in run.json.
func otherVersion(err error) bool {
	var syntax *generator.SyntaxError
	return errors.Is(err, generator.ErrRowsVersion) || errors.As(err, &syntax) && syntax.Line == 1 && !errors.Is(err, fs.ErrNotExist)
}

// oneMajorVersion refuses runs of two major versions of dodoor: they follow different rules.
func oneMajorVersion(runs []Run) error {
	first := &runs[0]
	for i := range runs {
		a, b := major(first.Info.Versions["dodoor"]), major(runs[i].Info.Versions["dodoor"])
		if cmp.Compare(a, b) != 0 && a != "" && b != "" {
			return fmt.Errorf("%s was made by dodoor %s and %s by %s: different major versions cannot be compared; report on them separately",
				first.Name, a, runs[i].Name, b)
		}
	}
	return nil
}

// major is v1 of v1.2.3, and nothing for a version that is not of this form.
func major(version string) string {
	head, _, _ := strings.Cut(version, ".")
	digits := strings.TrimPrefix(head, "v")
	if digits == head || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return head
}
