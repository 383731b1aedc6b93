package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Listed is one entry of the summary.json of several runs: the run's Summary, and where it belongs.
type Listed struct {
	Run        string `json:"run"`   // its directory
	Group      string `json:"group"` // runs of one group can be compared
	Label      string `json:"label"` // the policy, and the settings in which its runs differ
	Incomplete string `json:"incomplete,omitempty"`
	*Summary
}

// listed orders all runs as they appear in tables.
func listed(groups []Group) []Listed {
	var all []Listed
	for i := range groups {
		for _, p := range groups[i].Policies {
			for _, c := range p.Cells {
				for _, r := range c.Runs {
					l := Listed{Run: r.Name, Group: groups[i].Title, Label: p.Label, Summary: r.Summary}
					if !r.Complete() {
						l.Incomplete = incompleteMark + ": " + r.Missing()
					}
					all = append(all, l)
				}
			}
		}
	}
	return all
}

func listJSON(all []Listed) ([]byte, error) {
	text, err := json.MarshalIndent(all, "", " ")
	return append(text, '\n'), err
}

// csvColumns is summary.csv, one line per run.
var csvColumns = []struct {
	name string
	of   func(*Listed) any
}{
	{"run", func(l *Listed) any { return l.Run }},
	{"group", func(l *Listed) any { return l.Group }},
	{"policy", func(l *Listed) any { return l.Policy }},
	{"label", func(l *Listed) any { return l.Label }},
	{"incomplete", func(l *Listed) any { return l.Incomplete }},
	{"on", func(l *Listed) any { return l.On }},
	{"trace", func(l *Listed) any { return l.Trace }},
	{"qps", func(l *Listed) any { return l.QPS }},
	{"seed", func(l *Listed) any { return l.Seed }},
	{"time_scale", func(l *Listed) any { return l.TimeScale }},
	{"tasks", func(l *Listed) any { return l.Tasks }},
	{"completed", func(l *Listed) any { return l.Completed }},
	{"failed", func(l *Listed) any { return l.Failed }},
	{"timed_out", func(l *Listed) any { return l.TimedOut }},
	{"cancelled", func(l *Listed) any { return l.Cancelled }},
	{"lost", func(l *Listed) any { return l.Lost }},
	{"retried", func(l *Listed) any { return l.Retried }},
	{"throughput_per_s", func(l *Listed) any { return l.ThroughputPerS }},
	{"wall_s", func(l *Listed) any { return l.WallS }},
	{"makespan_mean_s", func(l *Listed) any { return l.MakespanS.Mean }},
	{"makespan_p50_s", func(l *Listed) any { return l.MakespanS.P50 }},
	{"makespan_p95_s", func(l *Listed) any { return l.MakespanS.P95 }},
	{"makespan_p99_s", func(l *Listed) any { return l.MakespanS.P99 }},
	{"makespan_max_s", func(l *Listed) any { return l.MakespanS.Max }},
	{"queue_wait_mean_s", func(l *Listed) any { return l.QueueWaitS.Mean }},
	{"queue_wait_p95_s", func(l *Listed) any { return l.QueueWaitS.P95 }},
	{"run_mean_s", func(l *Listed) any { return l.RunS.Mean }},
	{"startup_mean_ms", func(l *Listed) any { return startup(l).Mean }},
	{"startup_p95_ms", func(l *Listed) any { return startup(l).P95 }},
	{"estimate_error_mean", func(l *Listed) any { return l.EstimateError.Mean }},
	{"estimate_error_p95", func(l *Listed) any { return l.EstimateError.P95 }},
	{"estimate_bias", func(l *Listed) any { return l.EstimateError.Bias }},
	{"scheduling_mean_ms", func(l *Listed) any { return l.SchedulingMs.Mean }},
	{"scheduling_p95_ms", func(l *Listed) any { return l.SchedulingMs.P95 }},
	{"scheduling_p99_ms", func(l *Listed) any { return l.SchedulingMs.P99 }},
	{"generator_lag_p95_ms", func(l *Listed) any { return l.GeneratorLagMs.P95 }},
	{"control_messages_per_task", func(l *Listed) any { return l.ControlMessagesPerTask }},
	{"rpcs_per_task", func(l *Listed) any { return l.RPCsPerTask }},
	{"utilisation_cores", func(l *Listed) any { return l.Utilisation.Cores }},
	{"utilisation_memory", func(l *Listed) any { return l.Utilisation.Memory }},
	{"view_age_mean", func(l *Listed) any { return l.ViewAgeDecisions.Mean }},
	{"view_age_p95", func(l *Listed) any { return l.ViewAgeDecisions.P95 }},
}

// startup is 0 throughout where it is not known apart.
func startup(l *Listed) Distribution {
	if l.StartupMs == nil {
		return Distribution{}
	}
	return *l.StartupMs
}

func listCSV(all []Listed) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	record := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		record[i] = c.name
	}
	err := w.Write(record)
	for i := range all {
		for j, c := range csvColumns {
			record[j] = cellText(c.of(&all[i]))
		}
		if err == nil {
			err = w.Write(record)
		}
	}
	w.Flush()
	if err == nil {
		err = w.Error()
	}
	return b.Bytes(), err
}

// cellText writes numbers so that reading them gives the same number.
func cellText(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// listMarkdown is summary.md: one table per group.
func listMarkdown(groups []Group, notes []string) []byte {
	var b strings.Builder
	b.WriteString("# Summary\n\n" + tableLegend + "\n")
	for _, n := range notes {
		fmt.Fprintf(&b, "\n**Note: %s**\n", n)
	}
	for i := range groups {
		g := &groups[i]
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		if w := g.warning(); w != "" {
			fmt.Fprintf(&b, "**%s: not every task finished**\n\n", w)
		}
		header, rows := g.table()
		markdown(&b, header, rows)
	}
	return []byte(b.String())
}
