// Package report writes a report on runs. What it is made of: [results] reads runs, [metrics] and [stats] have their figures,
// [group] sorts them into what can be compared, [plots] draws a group, [page] shows everything.
package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"dodoor/generator/rundir"
	"dodoor/internal/runfiles"
	"dodoor/internal/wholefile"
	"dodoor/report/figure"
	"dodoor/report/group"
	"dodoor/report/page"
	"dodoor/report/plots"
	"dodoor/report/results"
)

// Result says what Build made.
type Result struct {
	Runs       int
	Incomplete int      // runs in which not every task finished
	Notes      []string // runs that were left out, and what else the reader should know
	Plots      int
}

// Build writes the report on the run in dir, or on the runs inside it, into dir: summary.csv, .json
// and .md, the figures in plots/ as SVG, PNG and PDF, and report.html, which needs no other file. The
// same runs give the same bytes. The summary.json of a single run stays one object; that of several
// is a list.
func Build(dir string) (*Result, error) { return build(dir, figure.Formats) }

// build draws in the given formats; SVG must be the first, as the page shows it.
func build(dir string, formats []string) (*Result, error) {
	runs, notes, err := results.Load(dir)
	if err != nil {
		return nil, err
	}
	groups := group.Of(runs)
	notes = append(notes, remarks(runs, groups)...)
	result := &Result{Runs: len(runs), Notes: notes}
	for i := range runs {
		if !runs[i].Complete() {
			result.Incomplete++
		}
	}
	if err := writeTables(dir, runs, groups, notes); err != nil {
		return nil, err
	}
	pages, err := writePlots(dir, groups, formats)
	if err != nil {
		return nil, err
	}
	for _, g := range pages {
		result.Plots += len(g.Plots)
	}
	html, err := page.Render(runs, pages, notes)
	if err != nil {
		return nil, err
	}
	return result, wholefile.Write(filepath.Join(dir, runfiles.Page), html)
}

// remarks are what figures do not show.
func remarks(runs []results.Run, groups []group.Group) []string {
	var notes []string
	if all := builds(runs); len(all) > 1 {
		notes = append(notes, fmt.Sprintf("the runs were made by %d builds of dodoor: %v", len(all), all))
	}
	if len(groups) > 1 {
		notes = append(notes, fmt.Sprintf("the runs belong to %d groups with different traces, clusters, time scales or numbers of tasks; each "+
			"has its own figures", len(groups)))
	}
	for i := range runs {
		if missing := runs[i].CountersMissing; len(missing) > 0 {
			notes = append(notes, fmt.Sprintf("%s: messages are incomplete, as there are no counters from %v", runs[i].Name, missing))
		}
	}
	return notes
}

func writeTables(dir string, runs []results.Run, groups []group.Group, notes []string) error {
	all := listed(groups)
	table, err := listCSV(all)
	if err != nil {
		return err
	}
	if rundir.Holds(dir) {
		err = results.WriteSummary(dir, runs[0].Summary)
	} else {
		var list []byte
		if list, err = listJSON(all); err == nil {
			err = wholefile.Write(filepath.Join(dir, runfiles.Summary), list)
		}
	}
	return errors.Join(err,
		wholefile.Write(filepath.Join(dir, runfiles.CSV), table),
		wholefile.Write(filepath.Join(dir, runfiles.Markdown), listMarkdown(groups, notes)))
}

// writePlots draws every figure in every format. What an earlier report left goes: a figure of runs
// that are no longer there would look current.
func writePlots(dir string, groups []group.Group, formats []string) ([]page.Group, error) {
	target := filepath.Join(dir, runfiles.Plots)
	if err := clearPlots(target); err != nil {
		return nil, err
	}
	var pages []page.Group
	for i := range groups {
		p := page.Group{Group: &groups[i]}
		for _, plot := range plots.Of(&groups[i]) {
			if len(groups) > 1 {
				plot.Name = fmt.Sprintf("group%d-%s", i+1, plot.Name)
			}
			svg, err := write(&plot, target, formats)
			if err != nil {
				return nil, err
			}
			p.Plots = append(p.Plots, page.Plot{Plot: plot, SVG: svg})
		}
		pages = append(pages, p)
	}
	return pages, nil
}

func clearPlots(dir string) error {
	for _, format := range figure.Formats {
		old, err := filepath.Glob(filepath.Join(dir, "*."+format))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return os.MkdirAll(dir, wholefile.FolderMode)
}

// write draws the plot in the formats and returns the SVG.
func write(p *plots.Plot, dir string, formats []string) (svg []byte, err error) {
	for _, format := range formats {
		var b bytes.Buffer
		if err := p.Figure.Write(&b, format); err != nil {
			return nil, err
		}
		if format == "svg" {
			svg = b.Bytes()
		}
		if err := wholefile.Write(filepath.Join(dir, p.Name+"."+format), b.Bytes()); err != nil {
			return nil, err
		}
	}
	return svg, nil
}

// builds lists the versions and commits that made the runs.
func builds(runs []results.Run) []string {
	var all []string
	for i := range runs {
		v := runs[i].Info.Versions
		all = append(all, fmt.Sprintf("%s (%s)", cmp.Or(v["dodoor"], "unknown"), cmp.Or(v["commit"], "unknown")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
