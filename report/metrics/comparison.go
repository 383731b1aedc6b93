package metrics

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"dodoor/report/stats"
)

// compared are the figures of a comparison.
var compared = []Metric{Throughput, MakespanMean, MakespanP50, MakespanP95, MakespanP99, QueueWaitMean, SchedulingMean, SchedulingP95,
	ControlMessagesPerTask, RPCsPerTask}

// changed are those that are set against the baseline's.
var changed = []struct {
	Metric
	key string // in JSON
}{
	{Throughput, "throughput_change"},
	{MakespanMean, "makespan_mean_change"},
	{MakespanP95, "makespan_p95_change"},
}

// Comparison is one policy at one rate against a baseline: means over the seeds, and paired changes.
type Comparison struct {
	Policy     string
	QPS        float64
	Runs       int
	Incomplete int            // runs in which a task did not finish
	Means      []float64      // of what is compared
	Changes    []stats.Change // of what is changed
}

// MarshalJSON names the figures by their keys. A change without a pair is null: JSON has no NaN.
func (c Comparison) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	var failed error
	add := func(key string, value any) {
		text, err := json.Marshal(value)
		failed = cmp.Or(failed, err)
		fmt.Fprintf(&b, ",%q:%s", key, text)
	}
	add("policy", c.Policy)
	add("qps", c.QPS)
	add("runs", c.Runs)
	add("incomplete", c.Incomplete)
	for i, m := range compared {
		add(m.Key, c.Means[i])
	}
	for i, m := range changed {
		var change *stats.Change
		if c.Changes[i].Pairs > 0 {
			change = &c.Changes[i]
		}
		add(m.key, change)
	}
	b.WriteByte('}')
	text := b.Bytes()
	text[0] = '{' // was the first comma
	return text, failed
}

// Compare folds the summaries of runs that differ in policy, rate and seed. Runs are paired by seed.
func Compare(runs []*Summary, baseline string) []Comparison {
	type key struct {
		qps    float64
		policy string
	}
	groups := map[key][]*Summary{}
	var order []key
	for _, s := range runs {
		k := key{s.QPS, s.Policy}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(a.qps, b.qps) })
	var all []Comparison
	for _, k := range order {
		c := average(groups[k])
		for _, m := range changed {
			c.Changes = append(c.Changes, paired(groups[k], groups[key{k.qps, baseline}], m.Of))
		}
		all = append(all, c)
	}
	return all
}

func average(runs []*Summary) Comparison {
	c := Comparison{Policy: runs[0].Policy, QPS: runs[0].QPS, Runs: len(runs)}
	for _, s := range runs {
		if s.Completed != s.Tasks {
			c.Incomplete++
		}
	}
	for _, m := range compared {
		var values []float64
		for _, s := range runs {
			values = append(values, m.Of(s))
		}
		c.Means = append(c.Means, stats.Mean(values))
	}
	return c
}

// paired lines runs up by seed.
func paired(runs, baseline []*Summary, of func(s *Summary) float64) stats.Change {
	bySeed := map[uint64]float64{}
	for _, s := range baseline {
		bySeed[s.Seed] = of(s)
	}
	var values, base []float64
	for _, s := range runs {
		if b, ok := bySeed[s.Seed]; ok {
			values, base = append(values, of(s)), append(base, b)
		}
	}
	return stats.PairedChange(values, base)
}

// PrintComparison writes one table: policy × rate with the change against the baseline. A change that is
// not significant at 95 % carries a tilde.
func PrintComparison(w io.Writer, rows []Comparison, baseline string) error {
	header := table.Row{"qps", "policy"}
	for _, m := range compared {
		header = append(header, strings.TrimSpace(m.Short+" "+m.Unit))
	}
	for _, m := range changed {
		header = append(header, "Δ "+m.Short)
	}
	t := newTable(2, header)
	last := math.NaN()
	incomplete := 0
	for _, c := range rows {
		if c.QPS != last && !math.IsNaN(last) {
			t.AppendSeparator()
		}
		last = c.QPS
		name := c.Policy
		if c.Incomplete > 0 {
			name += " INCOMPLETE"
			incomplete += c.Incomplete
		}
		row := table.Row{fmt.Sprintf("%g", c.QPS), name}
		for i, m := range compared {
			row = append(row, m.short(c.Means[i]))
		}
		for _, change := range c.Changes {
			row = append(row, changeText(c, change, baseline))
		}
		t.AppendRow(row)
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "makespan and waits in trace time, scheduling latency in wall time; Δ against %s, mean of paired runs [95 %% "+
		"bootstrap interval]; ~ not significant\n", baseline)
	if err == nil && incomplete > 0 {
		_, err = fmt.Fprintf(w, "!!! %d RUNS ARE INCOMPLETE: tasks were lost or failed, their figures cannot be compared\n", incomplete)
	}
	return err
}

// short writes a figure on a terminal.
func (m *Metric) short(v float64) string {
	if m.Digits > 0 {
		return fmt.Sprintf("%.*f", m.Digits, v)
	}
	return fmt.Sprintf("%.3g", v)
}

func changeText(c Comparison, d stats.Change, baseline string) string {
	switch {
	case c.Policy == baseline:
		return "-"
	case d.Pairs == 0:
		return "no pair"
	case d.Pairs == 1:
		return fmt.Sprintf("%+.1f %% (one pair)", 100*d.Mean)
	}
	mark := " "
	if !d.Significant() {
		mark = "~"
	}
	return fmt.Sprintf("%s%+.1f %% [%+.1f, %+.1f]", mark, 100*d.Mean, 100*d.Low, 100*d.High)
}
