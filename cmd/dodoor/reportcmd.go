package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"

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
	flags := flag.NewFlagSet("dodoor report", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { io.WriteString(stderr, reportUsage) }
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitDone
	case err != nil:
		return exitUsage
	}
	if flags.NArg() != 1 {
		fmt.Fprintf(stderr, "dodoor report: %d arguments: it takes one directory\n", flags.NArg())
		return exitUsage
	}
	dir := flags.Arg(0)
	result, err := report.Build(dir)
	if err != nil {
		fmt.Fprintf(stderr, "dodoor report: %v\n", err)
		return exitFailed
	}
	for _, note := range result.Notes {
		fmt.Fprintf(stderr, "dodoor report: !!! %s\n", note)
	}
	fmt.Fprintf(stdout, "runs: %d, figures: %d, page: %s\n", result.Runs, result.Plots, filepath.Join(dir, "report.html"))
	if result.Incomplete > 0 {
		fmt.Fprintf(stdout, "!!! INCOMPLETE: in %d of %d runs not every task finished; they are marked in every table and figure\n", result.Incomplete, result.Runs)
	}
	return exitDone
}
