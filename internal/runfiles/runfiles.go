// Package runfiles names the files of a run, and of the directory that holds several.
package runfiles

// The files that a run writes.
const (
	Tasks   = "tasks.csv" // a row per task
	Nodes   = "nodes.csv" // what every worker did
	Run     = "run.json"  // settings, moments and counters
	Summary = "summary.json"
)

// The files of a comparison and of a report, which also writes Summary.
const (
	Comparison = "comparison.json"
	CSV        = "summary.csv"
	Markdown   = "summary.md"
	Page       = "report.html"
	Plots      = "plots" // a directory
)
