package main

import (
	"fmt"
	"io"
	"path/filepath"

	"dodoor/internal/runfiles"
	"dodoor/report"
)

const reportUsage = `dodoor report: draws and tabulates one run, or all runs inside a directory, from their rows alone.

Usage: dodoor report DIR

DIR holds run.json and tasks.csv, or directories that do, as dodoor compare writes them. The report
goes into DIR: report.html (one file, for any browser), summary.csv, summary.json, summary.md, and
every figure in plots/ as SVG, PNG and PDF.

Example:
  dodoor report out
`

// runReport is `dodoor report`.
func runReport(args []string, stdout, stderr io.Writer) int {
	o := newFlags("report", "", "", stderr)
	o.Usage = func() { io.WriteString(stderr, reportUsage) }
	if code := o.parseFlags(args); code >= 0 {
		return code
	}
	if o.NArg() != 1 {
		return o.fail(exitUsage, fmt.Errorf("%d arguments: it takes one directory", o.NArg()))
	}
	dir := o.Arg(0)
	result, err := report.Build(dir)
	if err != nil {
		return o.fail(exitFailed, err)
	}
	for _, note := range result.Notes {
		fmt.Fprintf(stderr, "dodoor report: !!! %s\n", note)
	}
	fmt.Fprintf(stdout, "runs: %d, figures: %d, page: %s\n", result.Runs, result.Plots, filepath.Join(dir, runfiles.Page))
	if result.Incomplete > 0 {
		fmt.Fprintf(stdout, "!!! INCOMPLETE: in %d of %d runs not every task finished; they are marked in every table and figure\n",
			result.Incomplete, result.Runs)
	}
	return exitDone
}
