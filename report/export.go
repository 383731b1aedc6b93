package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"dodoor/report/group"
	"dodoor/report/metrics"
)

// Listed is one entry of the summary.json of several runs: the run's Summary, and where it belongs.
type Listed struct {
	Run        string `json:"run"`   // its directory
	Group      string `json:"group"` // runs of one group can be compared
	Label      string `json:"label"` // the policy, and the settings in which its runs differ
	Incomplete string `json:"incomplete,omitempty"`
	*metrics.Summary
}

// listed orders all runs as they appear in tables.
func listed(groups []group.Group) []Listed {
	var all []Listed
	for i := range groups {
		for _, p := range groups[i].Policies {
			for _, c := range p.Cells {
				for _, r := range c.Runs {
					l := Listed{Run: r.Name, Group: groups[i].Title, Label: p.Label, Summary: r.Summary}
					if !r.Complete() {
						l.Incomplete = group.IncompleteMark + ": " + r.Missing()
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

// csvColumns begin summary.csv, one line per run: which run it is, and its tasks by outcome. csvFigures follow.
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
}

var csvFigures = []metrics.Metric{
	metrics.Throughput, metrics.Wall, metrics.MakespanMean, metrics.MakespanP50, metrics.MakespanP95, metrics.MakespanP99,
	metrics.MakespanMax, metrics.QueueWaitMean, metrics.QueueWaitP95, metrics.RunMean, metrics.StartupMean, metrics.StartupP95,
	metrics.EstimateErrorMean, metrics.EstimateErrorP95, metrics.EstimateBias, metrics.SchedulingMean, metrics.SchedulingP95,
	metrics.SchedulingP99, metrics.GeneratorLagP95, metrics.ControlMessagesPerTask, metrics.RPCsPerTask, metrics.UtilisationCores,
	metrics.UtilisationMemory, metrics.ViewAgeMean, metrics.ViewAgeP95,
}

func listCSV(all []Listed) ([]byte, error) {
	var header []string
	for _, c := range csvColumns {
		header = append(header, c.name)
	}
	for _, m := range csvFigures {
		header = append(header, m.Key)
	}
	records := [][]string{header}
	for i := range all {
		var record []string
		for _, c := range csvColumns {
			record = append(record, cellText(c.of(&all[i])))
		}
		for _, m := range csvFigures {
			record = append(record, cellText(m.Of(all[i].Summary)))
		}
		records = append(records, record)
	}
	var b bytes.Buffer
	err := csv.NewWriter(&b).WriteAll(records)
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
func listMarkdown(groups []group.Group, notes []string) []byte {
	var b strings.Builder
	b.WriteString("# Summary\n\n" + group.Legend + "\n")
	for _, n := range notes {
		fmt.Fprintf(&b, "\n**Note: %s**\n", n)
	}
	for i := range groups {
		g := &groups[i]
		fmt.Fprintf(&b, "\n## %s\n\n", g.Title)
		if w := g.Warning(); w != "" {
			fmt.Fprintf(&b, "**%s: not every task finished**\n\n", w)
		}
		header, rows := g.Table()
		markdown(&b, header, rows)
	}
	return []byte(b.String())
}

// markdown writes a table; a bar in a cell would end it.
func markdown(b *strings.Builder, header []string, rows []group.Row) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(header)
	b.WriteString("|---:|---|" + strings.Repeat("---:|", len(header)-2) + "\n")
	for _, r := range rows {
		line(r.Cells)
	}
}
